package dev.seamgate;

/** A model, which a run asks for outputs. */
@FunctionalInterface
public interface Producer<E extends Exception> {
  /**
   * Returns an output.
   *
   * @param feedback what to tell the producer about its last output; empty in the first attempt.
   * @param attempt which attempt it is, from 1.
   */
  Produced produce(String feedback, int attempt) throws E;
}
