package dev.seamgate.sandbox;

import com.dylibso.chicory.runtime.Instance;
import com.dylibso.chicory.runtime.Memory;
import com.dylibso.chicory.runtime.WasmRuntimeException;
import com.dylibso.chicory.wasm.types.DataSegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * The memory of one instance, which knows what was written to it. So it is put back to a {@link Snapshot} by copying those
 * pieces alone.
 *
 * <p>It is one array. An address outside of it is outside of the array, so Java's own check of bounds is the sandbox's.
 */
final class LinearMemory implements Memory {
  private static final VarHandle SHORT = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final Image image;
  private final int most;
  private byte[] bytes;

  /** A byte for each piece of the memory: 1 if it may differ from what {@link #laid} says. */
  private byte[] dirty;

  /** The snapshot that the memory held before anything was written. */
  private Snapshot laid;

  /** Creates a memory from a snapshot, which can grow to at most this many bytes. */
  LinearMemory(Image image, Snapshot snapshot, int most) {
    this.image = image;
    this.most = most;
    this.laid = image.fresh();
    this.bytes = image.copy(snapshot.size());
    this.dirty = new byte[Snapshot.pieces(bytes.length)];
    reset(snapshot);
  }

  int size() {
    return bytes.length;
  }

  /** Makes the memory what the snapshot holds. */
  void reset(Snapshot snapshot) {
    if (bytes.length != snapshot.size()) {
      bytes = image.copy(snapshot.size());
      dirty = new byte[Snapshot.pieces(bytes.length)];
      laid = image.fresh();
    }
    if (laid != snapshot) {
      laid.mark(dirty);
      snapshot.mark(dirty);
      laid = snapshot;
    }
    for (int piece = 0; piece < dirty.length; piece++) {
      if (dirty[piece] != 0) {
        dirty[piece] = 0;
        snapshot.restore(image, bytes, piece);
      }
    }
  }

  /** Returns what the memory holds. */
  Snapshot snapshot() {
    byte[] written = dirty.clone();
    laid.mark(written);
    return Snapshot.of(image, bytes, written);
  }

  private WasmRuntimeException outside(int address, int length) {
    return new WasmRuntimeException(
        "out of bounds memory access: " + length + " bytes at " + Integer.toUnsignedString(address));
  }

  private void check(int address, int length) {
    if (address < 0 || length < 0 || address > bytes.length - length) {
      throw outside(address, length);
    }
  }

  /** Says that this many bytes were written. */
  private void mark(int address, int length) {
    if (length > 0) {
      Arrays.fill(dirty, address >>> Snapshot.SHIFT, ((address + length - 1) >>> Snapshot.SHIFT) + 1, (byte) 1);
    }
  }

  @Override
  public byte read(int address) {
    try {
      return bytes[address];
    } catch (IndexOutOfBoundsException e) {
      throw outside(address, 1);
    }
  }

  @Override
  public short readShort(int address) {
    try {
      return (short) SHORT.get(bytes, address);
    } catch (IndexOutOfBoundsException e) {
      throw outside(address, 2);
    }
  }

  @Override
  public int readInt(int address) {
    try {
      return (int) INT.get(bytes, address);
    } catch (IndexOutOfBoundsException e) {
      throw outside(address, 4);
    }
  }

  @Override
  public long readLong(int address) {
    try {
      return (long) LONG.get(bytes, address);
    } catch (IndexOutOfBoundsException e) {
      throw outside(address, 8);
    }
  }

  @Override
  public void writeByte(int address, byte value) {
    try {
      bytes[address] = value;
    } catch (IndexOutOfBoundsException e) {
      throw outside(address, 1);
    }
    dirty[address >>> Snapshot.SHIFT] = 1;
  }

  @Override
  public void writeShort(int address, short value) {
    try {
      SHORT.set(bytes, address, value);
    } catch (IndexOutOfBoundsException e) {
      throw outside(address, 2);
    }
    dirty[address >>> Snapshot.SHIFT] = 1;
    dirty[(address + 1) >>> Snapshot.SHIFT] = 1;
  }

  @Override
  public void writeI32(int address, int value) {
    try {
      INT.set(bytes, address, value);
    } catch (IndexOutOfBoundsException e) {
      throw outside(address, 4);
    }
    dirty[address >>> Snapshot.SHIFT] = 1;
    dirty[(address + 3) >>> Snapshot.SHIFT] = 1;
  }

  @Override
  public void writeLong(int address, long value) {
    try {
      LONG.set(bytes, address, value);
    } catch (IndexOutOfBoundsException e) {
      throw outside(address, 8);
    }
    dirty[address >>> Snapshot.SHIFT] = 1;
    dirty[(address + 7) >>> Snapshot.SHIFT] = 1;
  }

  @Override
  public long readU16(int address) {
    return readShort(address) & 0xffffL;
  }

  @Override
  public float readFloat(int address) {
    return Float.intBitsToFloat(readInt(address));
  }

  @Override
  public long readF32(int address) {
    return readInt(address);
  }

  @Override
  public void writeF32(int address, float value) {
    writeI32(address, Float.floatToRawIntBits(value));
  }

  @Override
  public double readDouble(int address) {
    return Double.longBitsToDouble(readLong(address));
  }

  @Override
  public long readF64(int address) {
    return readLong(address);
  }

  @Override
  public void writeF64(int address, double value) {
    writeLong(address, Double.doubleToRawLongBits(value));
  }

  @Override
  public void write(int address, byte[] data, int offset, int length) {
    check(address, length);
    System.arraycopy(data, offset, bytes, address, length);
    mark(address, length);
  }

  @Override
  public byte[] readBytes(int address, int length) {
    check(address, length);
    return Arrays.copyOfRange(bytes, address, address + length);
  }

  @Override
  public void copy(int to, int from, int length) {
    check(from, length);
    check(to, length);
    System.arraycopy(bytes, from, bytes, to, length);
    mark(to, length);
  }

  @Override
  public void fill(byte value, int from, int to) {
    check(from, to - from);
    Arrays.fill(bytes, from, to, value);
    mark(from, to - from);
  }

  @Override
  public int pages() {
    return bytes.length / PAGE_SIZE;
  }

  @Override
  public int grow(int pages) {
    int before = pages();
    if (pages < 0 || (long) bytes.length + (long) pages * PAGE_SIZE > most) {
      return -1;
    }
    if (pages > 0) {
      bytes = Arrays.copyOf(bytes, bytes.length + pages * PAGE_SIZE);
      dirty = Arrays.copyOf(dirty, Snapshot.pieces(bytes.length));
    }
    return before;
  }

  @Override
  public int initialPages() {
    return image.size() / PAGE_SIZE;
  }

  @Override
  public int maximumPages() {
    return most / PAGE_SIZE;
  }

  @Override
  public boolean shared() {
    return false;
  }

  /** Does nothing: the image is in the memory already. */
  @Override
  public void zero() {}

  /** Does nothing: the image has the data. */
  @Override
  public void initialize(Instance instance, DataSegment[] segments) {}

  @Override
  public void initPassiveSegment(int segment, int to, int offset, int length) {
    throw new UnsupportedOperationException("the module copies no data segment while it runs");
  }

  @Override
  public void drop(int segment) {
    throw new UnsupportedOperationException("the module drops no data segment");
  }

  @Override
  @SuppressWarnings("removal")
  public Object lock(int address) {
    throw noThreads();
  }

  @Override
  @SuppressWarnings("removal")
  public int waitOn(int address, int expected, long timeout) {
    throw noThreads();
  }

  @Override
  @SuppressWarnings("removal")
  public int waitOn(int address, long expected, long timeout) {
    throw noThreads();
  }

  @Override
  @SuppressWarnings("removal")
  public int notify(int address, int threads) {
    throw noThreads();
  }

  private static UnsupportedOperationException noThreads() {
    return new UnsupportedOperationException("the module has no threads");
  }
}
