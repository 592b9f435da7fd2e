package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * The output of a producer, and why it stopped.
 *
 * @param output what it produced.
 * @param finish why it stopped, in our words or as its API said. Null: unknown.
 */
public record Produced(String output, @Nullable String finish) {
  /** Returns an output of a producer that says nothing else. */
  public static Produced of(String output) {
    return new Produced(output, null);
  }
}
