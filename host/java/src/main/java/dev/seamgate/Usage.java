package dev.seamgate;

import java.time.Duration;

/**
 * The resource usage of one call. It is kept beside the report, never inside it.
 *
 * @param fuel about one unit for each WebAssembly instruction. The same request takes the same on every machine.
 * @param memory the most that the instance had, in bytes.
 * @param elapsed the wall clock.
 */
public record Usage(long fuel, int memory, Duration elapsed) {}
