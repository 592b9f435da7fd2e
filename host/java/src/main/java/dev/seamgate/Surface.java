package dev.seamgate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The tools that the model may see now, and the hidden ones.
 *
 * @param tools the tools that the model may see.
 * @param hidden the tools that it may not see.
 * @param facts the members of the facts that changed, as JSON text. A {@link Loop} applies the change itself.
 * @param json the surface as JSON text, the same bytes as in every other runtime.
 */
public record Surface(List<SurfaceTool> tools, List<HiddenTool> hidden, String facts, String json) {
  /**
   * A tool that the model may see.
   *
   * @param server the server that runs the tool. Null for the host's own tools.
   * @param tool its name.
   * @param effect the kind of effect of a call.
   * @param permit {@link Permit#APPROVAL} if a person decides about each call.
   * @param definition the part of the definition that the model may read, as JSON text, with each text sanitized.
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
   * @param server the server that runs the tool. Null for the host's own tools.
   * @param tool its name.
   * @param code why it is hidden: a code of {@code schemas/surface.schema.json}.
   * @param message one sentence for people.
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
