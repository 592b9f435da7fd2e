package dev.seamgate;

/**
 * How a run ended.
 *
 * @param report the verdict on all attempts together.
 * @param attempts the number of attempts.
 * @param stop the reason why the run ended.
 */
public record Outcome(Report report, int attempts, Stop stop) {
  /** Returns whether the document may be used: it is accepted, or partial if the caller allowed that. */
  public boolean isUsable() {
    return stop == Stop.ACCEPTED || stop == Stop.PARTIAL;
  }
}
