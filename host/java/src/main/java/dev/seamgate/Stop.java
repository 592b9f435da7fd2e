package dev.seamgate;

/** The reason why a run ended. */
public enum Stop implements Word {
  /** The output is accepted. */
  ACCEPTED("accepted"),
  /** Part of the output is valid, and the caller accepts that. */
  PARTIAL("partial"),
  /** The producer declined. */
  REFUSED("refused"),
  /** Another attempt by the same producer cannot help. */
  NOT_RETRYABLE("not_retryable"),
  /** Two attempts in a row had the same violations. */
  REPEATED("repeated"),
  /** The run made as many attempts as the contract's {@code retry.limit} allows. */
  LIMIT("limit");

  private final String word;

  Stop(String word) {
    this.word = word;
  }

  @Override
  public String word() {
    return word;
  }
}
