package dev.seamgate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The verdict on one output. It is data, never an exception. Any number of threads may use it.
 *
 * <p>Its members are read from {@link #json} on first access.
 */
public final class Report {
  private static final String HEAD = "{\"disposition\":\"";

  private final String json;
  private volatile @Nullable ReportDocument document;

  private Report(String json) {
    this.json = json;
  }

  /** Reads the text of a report, from {@link #json} or from another host. */
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

  /** Returns the disposition of the output. */
  public Disposition disposition() {
    return Disposition.of(json.substring(HEAD.length(), json.indexOf('"', HEAD.length())));
  }

  /** Returns whether the output is accepted. A partial output is not: check what is in quarantine before you use it. */
  public boolean isAccepted() {
    return disposition() == Disposition.ACCEPTED;
  }

  /**
   * Returns the validated document as JSON text, with the digits of numbers as written. Null if the output was rejected
   * or refused.
   */
  public @Nullable String output() {
    return document().output();
  }

  /** Decodes JSON text to a value: {@code text -> mapper.readValue(text, Order.class)}. */
  @FunctionalInterface
  public interface Decoder<T, E extends Exception> {
    /** Decodes JSON text to a value. */
    T decode(String json) throws E;
  }

  /**
   * Decodes the validated document, even if it is partial.
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

  /** Returns the feedback for the producer: what was wrong and where. Empty if the output is accepted. */
  public String feedback() {
    return document().feedback();
  }

  /** Returns the violations of the output. Empty if it is accepted or partial. */
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
