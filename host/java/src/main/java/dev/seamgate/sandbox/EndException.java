package dev.seamgate.sandbox;

import org.jspecify.annotations.Nullable;

/** A call that ended without an answer. */
public final class EndException extends Exception {
  private static final long serialVersionUID = 1L;

  /** Why a call ended without an answer. */
  public enum Why {
    /** The module failed. */
    TRAPPED,
    /** It took all its fuel. */
    OUT_OF_FUEL,
    /** It asked for more memory than an instance may have. */
    OUT_OF_MEMORY,
    /** It took all its stack. */
    STACK_OVERFLOW,
    /** Its time was over. */
    LATE,
    /** Its thread was interrupted. */
    INTERRUPTED,
    /** No instance was free in time. */
    BUSY,
  }

  private final Why why;

  EndException(Why why, @Nullable Throwable cause) {
    super("the call ended: " + why, cause);
    this.why = why;
  }

  /** Returns why the call ended. */
  public Why why() {
    return why;
  }
}
