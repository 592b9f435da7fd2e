package dev.seamgate;

/** There is no document to decode, because the output was rejected or refused. */
public final class NoOutputException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final Disposition disposition;

  NoOutputException(Disposition disposition, String feedback) {
    super("the output was " + disposition.word() + ", so there is no document to decode: " + feedback);
    this.disposition = disposition;
  }

  /** Returns the disposition of the output. */
  public Disposition disposition() {
    return disposition;
  }
}
