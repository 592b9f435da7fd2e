// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * A call that the model requested.
 *
 * @param call The run's own key for a call: c1, c2, ….
 * @param id The model's own id.
 * @param server The server of the tool.
 * @param tool The arguments as the model gave them.
 * @param arguments The arguments as the model wrote them.
 */
public record RequestedCall(
    String call,
    @Nullable String id,
    @Nullable String server,
    String tool,
    String arguments) {
  static RequestedCall read(Json json) {
    return new RequestedCall(
        json.need("call", Json::asText),
        json.find("id", Json::asText),
        json.find("server", Json::asText),
        json.need("tool", Json::asText),
        json.need("arguments", Json::asText));
  }
}
