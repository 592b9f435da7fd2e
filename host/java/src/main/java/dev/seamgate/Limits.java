package dev.seamgate;

import java.time.Duration;

/**
 * The limits of one call. A call that exceeds a limit throws a {@link Fault}; there is no verdict.
 *
 * @param fuel the fuel for each call, about one unit per WebAssembly instruction. Default: 100,000,000.
 * @param fuelPerByte additional fuel for each byte of output and contract. Default: 500.
 * @param contractFuel the fuel for compiling one registered contract or profile. Default: 500,000,000.
 * @param contractFuelPerByte additional fuel for each byte of that contract. Default: 2,500.
 * @param memory the most memory of each instance, in bytes: at most 64 MiB, which is the default.
 * @param outputBytes the most bytes of an output. Default: 8 MiB.
 * @param timeout the wall-clock time of each call, and of waiting for a free instance. Default: 30 s. Other packages
 *     have 5 s, but here a call takes ten times as long until HotSpot has compiled the module. Fuel is what bounds the
 *     work.
 */
public record Limits(
    long fuel,
    long fuelPerByte,
    long contractFuel,
    long contractFuelPerByte,
    int memory,
    int outputBytes,
    Duration timeout) {
  /** The defaults. */
  public static final Limits DEFAULT =
      new Limits(
          Defaults.FUEL,
          Defaults.FUEL_PER_BYTE,
          Defaults.CONTRACT_FUEL,
          Defaults.CONTRACT_FUEL_PER_BYTE,
          (int) Defaults.MEMORY,
          (int) Defaults.OUTPUT_BYTES,
          Duration.ofSeconds(6 * Defaults.TIMEOUT));

  /** Checks that no limit is negative, and that the memory is not larger than an instance can be. */
  public Limits {
    for (long limit : new long[] {fuel, fuelPerByte, contractFuel, contractFuelPerByte, memory, outputBytes}) {
      if (limit < 0) {
        throw new IllegalArgumentException("limits must not be negative, and one is " + limit);
      }
    }
    if (timeout.isNegative()) {
      throw new IllegalArgumentException("limits: timeout must not be negative, and is " + timeout);
    }
    if (memory > Defaults.MEMORY) {
      throw new IllegalArgumentException("limits: memory must be at most " + Defaults.MEMORY + ", and is " + memory);
    }
  }

  /** Returns the same limits with this fuel for each call. */
  public Limits withFuel(long fuel) {
    return new Limits(fuel, fuelPerByte, contractFuel, contractFuelPerByte, memory, outputBytes, timeout);
  }

  /** Returns the same limits with this fuel for each byte. */
  public Limits withFuelPerByte(long fuelPerByte) {
    return new Limits(fuel, fuelPerByte, contractFuel, contractFuelPerByte, memory, outputBytes, timeout);
  }

  /** Returns the same limits with this fuel for compiling a contract. */
  public Limits withContractFuel(long contractFuel) {
    return new Limits(fuel, fuelPerByte, contractFuel, contractFuelPerByte, memory, outputBytes, timeout);
  }

  /** Returns the same limits with this fuel for each byte of a contract. */
  public Limits withContractFuelPerByte(long contractFuelPerByte) {
    return new Limits(fuel, fuelPerByte, contractFuel, contractFuelPerByte, memory, outputBytes, timeout);
  }

  /** Returns the same limits with this memory of each instance, in bytes. */
  public Limits withMemory(int memory) {
    return new Limits(fuel, fuelPerByte, contractFuel, contractFuelPerByte, memory, outputBytes, timeout);
  }

  /** Returns the same limits with this maximum size of an output. */
  public Limits withOutputBytes(int outputBytes) {
    return new Limits(fuel, fuelPerByte, contractFuel, contractFuelPerByte, memory, outputBytes, timeout);
  }

  /** Returns the same limits with this timeout. */
  public Limits withTimeout(Duration timeout) {
    return new Limits(fuel, fuelPerByte, contractFuel, contractFuelPerByte, memory, outputBytes, timeout);
  }

  /** Returns the fuel for a call with this many bytes of output and contract. */
  long fuelFor(long bytes) {
    return linear(fuel, fuelPerByte, bytes);
  }

  /** Returns the fuel for compiling a contract of this many bytes. */
  long fuelForContract(long bytes) {
    return linear(contractFuel, contractFuelPerByte, bytes);
  }

  private static long linear(long base, long each, long count) {
    return each != 0 && count > (Long.MAX_VALUE - base) / each ? Long.MAX_VALUE : base + each * count;
  }

  /** Throws a fault if an output has too many bytes. */
  void checkSize(long bytes) {
    if (bytes > outputBytes) {
      throw Fault.of(
          FaultCode.INPUT_TOO_LARGE,
          "the output has " + bytes + " bytes; the limit is " + outputBytes,
          new Fault.Detail(java.util.List.of(), java.util.List.of(), bytes, (long) outputBytes),
          null);
    }
  }
}
