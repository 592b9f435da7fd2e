package dev.seamgate.sandbox;

import dev.seamgate.sandbox.EndException.Why;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The instances that are not in use, and the room for those that are. Any number of threads may use it. */
public final class Engine implements AutoCloseable {
  private final Code code;
  private final Image image;
  private final int most;
  private final Semaphore room;
  private final Deque<Sandbox> idle = new ArrayDeque<>();
  private boolean isClosed;

  /** Creates an engine with this much memory for each instance, which runs this many calls at once. */
  public Engine(Code code, int memory, int instances) {
    this.code = code;
    this.image = Image.of(code.module());
    this.most = memory;
    this.room = new Semaphore(instances, true);
  }

  /** Returns the snapshot of the memory that an instance begins with. */
  public Snapshot fresh() {
    return image.fresh();
  }

  /** Waits for room for one more call until the deadline, and returns an instance with this memory. Release it. */
  public Sandbox take(Snapshot snapshot, long deadline) throws EndException {
    try {
      if (!room.tryAcquire(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
        throw new EndException(Why.BUSY, null);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new EndException(Why.INTERRUPTED, e);
    }
    try {
      return open(snapshot);
    } catch (RuntimeException | Error e) {
      room.release();
      throw e;
    }
  }

  /** Returns an instance from {@link #take} to the engine. */
  public void release(Sandbox sandbox) {
    putBack(sandbox);
    room.release();
  }

  /** Returns an instance of its own, which does not count among those that run at once. */
  public Sandbox open(Snapshot snapshot) {
    Sandbox sandbox = idle();
    if (sandbox == null) {
      return new Sandbox(code, image, snapshot, most);
    }
    sandbox.reset(snapshot);
    return sandbox;
  }

  /** Returns an instance from {@link #open} to the engine. */
  public void putBack(Sandbox sandbox) {
    synchronized (idle) {
      if (!isClosed && !sandbox.isBroken()) {
        idle.push(sandbox);
      }
    }
  }

  private @Nullable Sandbox idle() {
    synchronized (idle) {
      if (isClosed) {
        throw new IllegalStateException("the gate was closed");
      }
      return idle.poll();
    }
  }

  /** Frees the instances. Calls that run end as they would; later ones fail. */
  @Override
  public void close() {
    synchronized (idle) {
      isClosed = true;
      idle.clear();
    }
  }
}
