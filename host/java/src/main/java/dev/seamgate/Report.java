package dev.seamgate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The verdict on one output. Data, never an exception. Any number of threads may use it.
 *
 * <p>Its members are read from {@link #json} when they are asked for.
 */
public final class Report {
  private static final String HEAD = "{\"disposition\":\"";

  private final String json;
  private volatile @Nullable ReportDocument document;

  private Report(String json) {
    this.json = json;
  }

  /** Reads the text of a report, as {@link #json} or another host gave it. */
  public static Report of(String json) {
    if (!json.startsWith(HEAD)) {
      throw new IllegalArgumentException("a report must begin with " + HEAD + ", without white space");
    }
    var report = new Report(json);
    report.document();
    return report;
  }

  static Report answered(String json) {
    return new Report(json);
  }

  /** Returns the report as JSON text: the same bytes in every runtime. */
  public String json() {
    return json;
  }

  /** Returns what became of the output. */
  public Disposition disposition() {
    return Disposition.of(json.substring(HEAD.length(), json.indexOf('"', HEAD.length())));
  }

  /** Returns whether the output was accepted. A partial one was not: look at what is in quarantine before you use it. */
  public boolean isAccepted() {
    return disposition() == Disposition.ACCEPTED;
  }

  /**
   * Returns the validated document as JSON text, numbers with the digits they were written with. Null if there is none: the
   * output was rejected or refused.
   */
  public @Nullable String output() {
    return document().output();
  }

  /** Makes a value of JSON text: {@code text -> mapper.readValue(text, Order.class)}. */
  @FunctionalInterface
  public interface Decoder<T, E extends Exception> {
    /** Makes a value of JSON text. */
    T decode(String json) throws E;
  }

  /**
   * Returns what a decoder makes of the validated document, also of a partial one.
   *
   * @throws NoOutputException if the output was rejected or refused.
   */
  public <T, E extends Exception> T decode(Decoder<T, E> decoder) throws E {
    String output = output();
    if (output == null) {
      throw new NoOutputException(disposition(), feedback());
    }
    return decoder.decode(output);
  }

  /** Returns all members of the report. */
  public ReportDocument document() {
    var read = document;
    if (read == null) {
      read = ReportDocument.read(Json.parse(json));
      document = read;
    }
    return read;
  }

  /** Returns what to send back to the producer: what was wrong and where. Empty if the output was accepted. */
  public String feedback() {
    return document().feedback();
  }

  /** Returns what is wrong with the output. Empty if it was accepted or partial. */
  public List<Violation> violations() {
    var error = document().error();
    return error == null ? List.of() : error.violations();
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Report report && report.json.equals(json);
  }

  @Override
  public int hashCode() {
    return json.hashCode();
  }

  @Override
  public String toString() {
    return json;
  }
}
