package dev.seamgate;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Scanner;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Answers each line of standard input, a request, with one line: the answer, a tab, and the fuel that it took. Each request
 * has an instance of its own. {@code cargo xtask runtimes} compares them with those of other runtimes. The argument is
 * {@code compiled}, or the module that the interpreter shall run.
 */
public final class Answers {
  private Answers() {}

  /** Answers standard input. */
  public static void main(String[] arguments) throws IOException, InterruptedException, ExecutionException {
    if (arguments.length != 1) {
      throw new IllegalArgumentException("usage: Answers compiled|MODULE < REQUESTS > ANSWERS");
    }
    var builder = Gate.builder().limits(Limits.DEFAULT.withTimeout(Duration.ofHours(1)));
    if (!arguments[0].equals("compiled")) {
      builder.interpreted(Files.readAllBytes(Path.of(arguments[0])));
    }
    // Not a reader of lines: it would end them at carriage returns, too, which requests have.
    var in = new Scanner(System.in, StandardCharsets.UTF_8).useDelimiter("\n");
    var out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    var workers = Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors());
    try (var gate = builder.build()) {
      Deque<Future<Answer>> answers = new ArrayDeque<>();
      while (in.hasNext()) {
        String request = in.next();
        answers.add(workers.submit(() -> gate.call(request)));
        if (answers.size() == 64) {
          print(out, answers.remove().get());
        }
      }
      while (!answers.isEmpty()) {
        print(out, answers.remove().get());
      }
    } finally {
      workers.shutdownNow();
    }
    out.flush();
    if (out.checkError()) {
      throw new IOException("cannot write the answers");
    }
  }

  private static void print(PrintStream out, Answer answer) {
    out.print(answer.json() + "\t" + answer.usage().fuel() + "\n");
  }
}
