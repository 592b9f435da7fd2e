package dev.seamgate;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Follows an output while it is streamed, in chunks of any size. Before the end, only failures that no further text can
 * fix are reported. Any number of threads may use it; chunks are added in the order in which they arrive.
 */
public final class Session {
  private static final Progress NOTHING = new Progress(Completeness.IN_FLIGHT, List.of(), null);

  private final Gate gate;
  private final Request request;
  private final ByteArrayOutputStream output = new ByteArrayOutputStream();
  private byte[] partial = new byte[0];
  private @Nullable String state;
  private Progress progress = NOTHING;
  private boolean isOver;

  Session(Gate gate, Request request) {
    this.gate = gate;
    this.request = request;
  }

  /** Adds the next chunk of text, and returns the progress. */
  public Progress push(String chunk) {
    return push(chunk.getBytes(StandardCharsets.UTF_8));
  }

  /** Adds the next bytes, in UTF-8, and returns the progress. A chunk may end within a character. */
  public synchronized Progress push(byte[] chunk) {
    checkOpen();
    gate.limits().checkSize((long) output.size() + chunk.length);
    byte[] whole = Arrays.copyOf(partial, partial.length + chunk.length);
    System.arraycopy(chunk, 0, whole, partial.length, chunk.length);
    int end = whole.length - Texts.incomplete(whole, whole.length);
    String text = Texts.decode(Arrays.copyOf(whole, end)).text();
    var read = Json.parse(gate.push(agent(), text, state));
    state = read.need("state", Json::raw);
    progress = read.need("progress", Progress::read);
    output.writeBytes(chunk);
    partial = Arrays.copyOfRange(whole, end, whole.length);
    return progress;
  }

  private String agent() {
    String agent = request.agent();
    return agent == null ? "" : agent;
  }

  private void checkOpen() {
    if (isOver) {
      throw new IllegalStateException("the session is over: it was finished");
    }
  }

  /** Returns the progress after the last chunk. */
  public synchronized Progress progress() {
    return progress;
  }

  /**
   * Reads bytes until the stream ends, or until the output can no longer become valid. Then {@link Progress#deadEnd} is
   * set: stop the producer.
   */
  public Progress read(InputStream from) throws IOException {
    return read(from, item -> {});
  }

  /**
   * Does the same, and passes on each item as soon as it is complete; {@link #text} returns its text. Items are not
   * judged yet: {@link #finish} returns the verdict.
   */
  public Progress read(InputStream from, Consumer<Completed> completed) throws IOException {
    byte[] buffer = new byte[32 << 10];
    for (int count = from.read(buffer); count >= 0; count = from.read(buffer)) {
      if (isDead(push(Arrays.copyOf(buffer, count)), completed)) {
        break;
      }
    }
    return progress();
  }

  private static boolean isDead(Progress progress, Consumer<Completed> completed) {
    progress.items().forEach(completed);
    return progress.deadEnd() != null;
  }

  /** Reads characters, as {@link #read(InputStream)} reads bytes. */
  public Progress read(Reader from) throws IOException {
    return read(from, item -> {});
  }

  /** Reads characters, as {@link #read(InputStream, Consumer)} reads bytes. */
  public Progress read(Reader from, Consumer<Completed> completed) throws IOException {
    char[] buffer = new char[16 << 10];
    int kept = 0;
    for (int count = from.read(buffer, 0, buffer.length); count >= 0; count = from.read(buffer, kept, buffer.length - kept)) {
      int length = kept + count;
      // The first half of a pair waits for the second.
      kept = length > 0 && Character.isHighSurrogate(buffer[length - 1]) ? 1 : 0;
      char last = length > 0 ? buffer[length - 1] : 0;
      if (isDead(push(new String(buffer, 0, length - kept)), completed)) {
        return progress();
      }
      if (kept > 0) {
        buffer[0] = last;
      }
    }
    if (kept > 0) {
      isDead(push(new String(buffer, 0, kept)), completed);
    }
    return progress();
  }

  /**
   * Returns a part of the output so far, such as an item.
   *
   * @throws IndexOutOfBoundsException if the part has not arrived yet.
   */
  public synchronized String text(Span of) {
    // Spans refer to the judged text, in which bytes that are not UTF-8 are replaced.
    byte[] whole = output.toByteArray();
    var decoded = Texts.decode(whole);
    if (decoded.invalid() >= 0) {
      whole = decoded.text().getBytes(StandardCharsets.UTF_8);
    }
    long start = Objects.checkFromToIndex(of.start(), of.end(), (long) whole.length);
    return new String(whole, (int) start, (int) (of.end() - start), StandardCharsets.UTF_8);
  }

  /** Returns the verdict, byte for byte the same as that of {@link Gate#validate} on the whole output. */
  public Verdict finish() {
    return end(request);
  }

  /** Returns the same, with the reason why the producer stopped. */
  public Verdict finish(Finish finish) {
    return end(request.finish(finish));
  }

  /** Returns the same, with the reason why the producer stopped in its API's own words. */
  public Verdict finish(String finish) {
    return end(request.finish(finish));
  }

  private synchronized Verdict end(Request of) {
    checkOpen();
    var verdict = gate.validate(of.output(output.toByteArray()));
    isOver = true;
    return verdict;
  }
}
