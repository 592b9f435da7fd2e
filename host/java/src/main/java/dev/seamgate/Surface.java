package dev.seamgate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The tools that the model may see now, and those that it may not.
 *
 * @param tools those that it may see.
 * @param hidden those that it may not.
 * @param facts the members of the facts that changed, as JSON text. A {@link Loop} puts them in their place.
 * @param json the surface as JSON text, the same bytes as in every other runtime.
 */
public record Surface(List<SurfaceTool> tools, List<HiddenTool> hidden, String facts, String json) {
  /**
   * A tool that the model may see.
   *
   * @param server where the tool runs. Null for the host's own.
   * @param tool its name.
   * @param effect what a call of it does.
   * @param permit {@link Permit#APPROVAL} if a person decides about each call.
   * @param definition what the model may read of the definition, as JSON text: each text is sanitized.
   */
  public record SurfaceTool(
      @Nullable String server, String tool, Effect effect, Permit permit, @Nullable String definition) {
    private static SurfaceTool read(Json json) {
      return new SurfaceTool(
          json.find("server", Json::asText),
          json.need("tool", Json::asText),
          json.need("effect", Effect::read),
          json.need("permit", Permit::read),
          json.find("definition", Json::raw));
    }
  }

  /**
   * A tool that the model may not see.
   *
   * @param server where the tool runs. Null for the host's own.
   * @param tool its name.
   * @param code why, as a code of {@code schemas/surface.schema.json}.
   * @param message one sentence for a person.
   */
  public record HiddenTool(@Nullable String server, String tool, String code, @Nullable String message) {
    private static HiddenTool read(Json json) {
      return new HiddenTool(
          json.find("server", Json::asText),
          json.need("tool", Json::asText),
          json.need("code", Json::asText),
          json.find("message", Json::asText));
    }
  }

  static Surface read(Json json) {
    return new Surface(
        json.need("tools", Json.list(SurfaceTool::read)),
        json.need("hidden", Json.list(HiddenTool::read)),
        json.need("facts", Json::raw),
        json.raw());
  }
}
