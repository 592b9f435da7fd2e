package dev.seamgate.sandbox;

import java.util.Arrays;

/** The difference of a memory to the {@link Image}, in pieces, and the size of the memory. */
public final class Snapshot {
  /** A piece has two to this power bytes. */
  static final int SHIFT = 10;

  private static final int PIECE = 1 << SHIFT;

  private final int size;
  private final int[] places;
  private final byte[][] pieces;

  /** Makes a snapshot. The places are in ascending order. */
  private Snapshot(int size, int[] places, byte[][] pieces) {
    this.size = size;
    this.places = places;
    this.pieces = pieces;
  }

  /** Returns the snapshot of a memory that holds the image alone. */
  static Snapshot fresh(int size) {
    return new Snapshot(size, new int[0], new byte[0][]);
  }

  /** Compares those pieces of a memory with the image that were written. */
  static Snapshot of(Image image, byte[] memory, byte[] written) {
    int[] places = new int[written.length];
    byte[][] pieces = new byte[written.length][];
    int count = 0;
    for (int piece = 0; piece < written.length; piece++) {
      if (written[piece] != 0 && !image.holds(memory, piece << SHIFT, PIECE)) {
        places[count] = piece;
        pieces[count++] = Arrays.copyOfRange(memory, piece << SHIFT, (piece + 1) << SHIFT);
      }
    }
    return new Snapshot(memory.length, Arrays.copyOf(places, count), Arrays.copyOf(pieces, count));
  }

  /** Returns how many pieces a memory has. */
  static int pieces(int size) {
    return size >>> SHIFT;
  }

  int size() {
    return size;
  }

  /** Returns how many bytes the snapshot holds beside the image. */
  public int bytes() {
    return places.length * PIECE;
  }

  /** Marks what the snapshot holds. */
  void mark(byte[] dirty) {
    for (int place : places) {
      if (place < dirty.length) {
        dirty[place] = 1;
      }
    }
  }

  /** Writes one piece to a memory. */
  void restore(Image image, byte[] memory, int piece) {
    int at = Arrays.binarySearch(places, piece);
    if (at >= 0) {
      System.arraycopy(pieces[at], 0, memory, piece << SHIFT, PIECE);
    } else {
      image.restore(memory, piece << SHIFT, PIECE);
    }
  }
}
