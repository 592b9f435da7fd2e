package dev.seamgate;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Takes an output that is still coming, in pieces of any size. Nothing is judged before the end but what can no longer become
 * right. Any number of threads may use it; the pieces have the order in which they come.
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

  /** Takes the text that came next, and returns what is known now. */
  public Progress push(String chunk) {
    return push(chunk.getBytes(StandardCharsets.UTF_8));
  }

  /** Takes the bytes that came next, in UTF-8, and returns what is known now. A piece may end within a character. */
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

  /** Returns what was known after the last piece. */
  public synchronized Progress progress() {
    return progress;
  }

  /**
   * Takes bytes until the stream ends, or until the output can no longer become right: then {@link Progress#deadEnd} is
   * there. Stop the producer then.
   */
  public Progress read(InputStream from) throws IOException {
    byte[] buffer = new byte[32 << 10];
    for (int count = from.read(buffer); count >= 0; count = from.read(buffer)) {
      if (push(Arrays.copyOf(buffer, count)).deadEnd() != null) {
        break;
      }
    }
    return progress();
  }

  /** Takes characters, as {@link #read(InputStream)} takes bytes. */
  public Progress read(Reader from) throws IOException {
    char[] buffer = new char[16 << 10];
    int kept = 0;
    for (int count = from.read(buffer, 0, buffer.length); count >= 0; count = from.read(buffer, kept, buffer.length - kept)) {
      int length = kept + count;
      // The first half of a pair waits for the second.
      kept = length > 0 && Character.isHighSurrogate(buffer[length - 1]) ? 1 : 0;
      char last = length > 0 ? buffer[length - 1] : 0;
      if (push(new String(buffer, 0, length - kept)).deadEnd() != null) {
        return progress();
      }
      if (kept > 0) {
        buffer[0] = last;
      }
    }
    return kept > 0 ? push(new String(buffer, 0, kept)) : progress();
  }

  /** Returns the verdict on all that came, byte for byte as {@link Gate#validate} gives it for the whole text. */
  public Verdict finish() {
    return end(request);
  }

  /** Returns the same, after the producer said why it stopped. */
  public Verdict finish(Finish finish) {
    return end(request.finish(finish));
  }

  /** Returns the same, with the word of the producer's API for why it stopped. */
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
