package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * The output of a producer, and the reason why the producer stopped.
 *
 * @param output the output.
 * @param finish the reason why the producer stopped: one of the module's words or its API's own word. Null if unknown.
 */
public record Produced(String output, @Nullable String finish) {
  /** Returns an output with an unknown reason. */
  public static Produced of(String output) {
    return new Produced(output, null);
  }
}
