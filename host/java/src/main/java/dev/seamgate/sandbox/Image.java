package dev.seamgate.sandbox;

import com.dylibso.chicory.runtime.Memory;
import com.dylibso.chicory.wasm.WasmModule;
import com.dylibso.chicory.wasm.types.ActiveDataSegment;
import com.dylibso.chicory.wasm.types.OpCode;
import java.util.Arrays;

/** The memory that each instance begins with. */
final class Image {
  private final byte[] bytes;
  private final Snapshot fresh;

  private Image(byte[] bytes) {
    this.bytes = bytes;
    this.fresh = Snapshot.fresh(bytes.length);
  }

  /** Reads the image of a module. Its data segments have constant addresses. */
  static Image of(WasmModule module) {
    var section = module.memorySection().orElseThrow(() -> new IllegalStateException("the module has no memory"));
    if (section.memoryCount() != 1) {
      throw new IllegalStateException("the module must have one memory, not " + section.memoryCount());
    }
    var bytes = new byte[section.getMemory(0).limits().initialPages() * Memory.PAGE_SIZE];
    for (var segment : module.dataSection().dataSegments()) {
      if (segment instanceof ActiveDataSegment active) {
        var address = active.offsetInstructions().get(0);
        if (address.opcode() != OpCode.I32_CONST) {
          throw new IllegalStateException("a data segment of the module must have a constant address");
        }
        System.arraycopy(active.data(), 0, bytes, (int) address.operand(0), active.data().length);
      }
    }
    return new Image(bytes);
  }

  int size() {
    return bytes.length;
  }

  Snapshot fresh() {
    return fresh;
  }

  /** Returns a memory of a size that holds the image. Beyond it, the memory is zero. */
  byte[] copy(int size) {
    return Arrays.copyOf(bytes, size);
  }

  /** Returns whether a memory holds the image at a place. */
  boolean holds(byte[] memory, int at, int length) {
    if (at < bytes.length) {
      return Arrays.equals(memory, at, at + length, bytes, at, at + length);
    }
    for (int index = at; index < at + length; index++) {
      if (memory[index] != 0) {
        return false;
      }
    }
    return true;
  }

  /** Writes a piece of the image to a memory. */
  void restore(byte[] memory, int at, int length) {
    if (at < bytes.length) {
      System.arraycopy(bytes, at, memory, at, length);
    } else {
      Arrays.fill(memory, at, at + length, (byte) 0);
    }
  }
}
