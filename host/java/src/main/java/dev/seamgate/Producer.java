package dev.seamgate;

/** A producer of outputs, usually a model, which a run asks. */
@FunctionalInterface
public interface Producer<E extends Exception> {
  /**
   * Returns an output.
   *
   * @param feedback the feedback on the last output; empty in the first attempt.
   * @param attempt the number of the attempt, from 1.
   */
  Produced produce(String feedback, int attempt) throws E;
}
