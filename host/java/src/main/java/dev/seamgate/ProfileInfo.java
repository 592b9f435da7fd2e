package dev.seamgate;

import java.util.List;

/**
 * Describes a registered profile.
 *
 * @param agent the agent that it is for.
 * @param version its version.
 * @param profile its digest: {@code sha256:} and 64 hexadecimal digits.
 * @param tools the full names of its tools, in its order.
 * @param lists those that its scopes name, in ascending order.
 * @param disabled the tools whose pinned definition is invalid.
 */
public record ProfileInfo(
    String agent, String version, String profile, List<String> tools, List<String> lists, List<DisabledTool> disabled) {
  /**
   * A tool whose pinned definition is invalid.
   *
   * @param tool its full name.
   * @param message what is wrong with the definition, and where.
   */
  public record DisabledTool(String tool, String message) {
    private static DisabledTool read(Json json) {
      return new DisabledTool(json.need("tool", Json::asText), json.need("message", Json::asText));
    }
  }

  static ProfileInfo read(Json json) {
    return new ProfileInfo(
        json.need("agent", Json::asText),
        json.need("version", Json::asText),
        json.need("profile", Json::asText),
        json.need("tools", Json.list(Json::asText)),
        json.need("lists", Json.list(Json::asText)),
        json.need("disabled", Json.list(DisabledTool::read)));
  }
}
