package dev.seamgate.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The memory of this process, in bytes.
 *
 * @param heap the used heap after a garbage collection.
 * @param resident the resident memory; zero if the system does not report it.
 */
record Memory(long heap, long resident) {
  static Memory now() throws IOException {
    System.gc();
    var runtime = Runtime.getRuntime();
    return new Memory(runtime.totalMemory() - runtime.freeMemory(), residentNow());
  }

  private static long residentNow() throws IOException {
    var status = Path.of("/proc/self/status");
    if (!Files.exists(status)) {
      return 0;
    }
    for (String line : Files.readAllLines(status)) {
      if (line.startsWith("VmRSS:")) {
        return Long.parseLong(line.replaceAll("[^0-9]", "")) << 10;
      }
    }
    return 0;
  }

  /** Fails if there is a quarter more by now. */
  void check(Memory now) {
    if (now.heap > heap + heap / 4 || now.resident > resident + resident / 4) {
      throw new IllegalStateException("the memory grew from " + this + " to " + now);
    }
  }
}
