package dev.seamgate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * No verdict was possible, because of a mistake by the caller or an exceeded limit. A fault is never a rejected output,
 * which is a {@link Report}. Faults fail closed: no part of the output was accepted.
 *
 * <p>Each kind has its own class, such as {@link UnknownAgent}. {@link #code} is the same in every language.
 */
public abstract sealed class Fault extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final FaultCode code;
  private final transient Detail detail;

  private Fault(FaultCode code, String message, Detail detail, @Nullable Throwable cause) {
    super(message, cause);
    this.code = code;
    this.detail = detail;
  }

  /** Returns the kind of fault. */
  public final FaultCode code() {
    return code;
  }

  /** Returns the machine-readable details. */
  public final Detail detail() {
    return detail == null ? Detail.NONE : detail;
  }

  /**
   * The machine-readable details of a fault.
   *
   * @param violations the violations of a request, a contract or a profile, with paths in that document.
   * @param agents the agents that have a contract or profile, for {@link UnknownAgent}.
   * @param bytes the size of the output, for {@link InputTooLarge}.
   * @param limit the exceeded limit, in units of fuel, bytes or milliseconds.
   */
  public record Detail(
      List<Violation> violations, List<String> agents, @Nullable Long bytes, @Nullable Long limit) {
    static final Detail NONE = new Detail(List.of(), List.of(), null, null);

    /** Copies mutable arguments. */
    public Detail {
      violations = List.copyOf(violations);
      agents = List.copyOf(agents);
    }

    static Detail limit(long limit) {
      return new Detail(List.of(), List.of(), null, limit);
    }

    private static Detail read(Json json) {
      List<Violation> violations = json.find("violations", Json.list(Violation::read));
      List<String> agents = json.find("agents", Json.list(Json::asText));
      return new Detail(
          violations == null ? List.of() : violations,
          agents == null ? List.of() : agents,
          json.find("bytes", Json::asLong),
          json.find("limit", Json::asLong));
    }
  }

  /** Returns the fault with a code. */
  static Fault of(FaultCode code, String message, Detail detail, @Nullable Throwable cause) {
    return switch (code) {
      case BAD_REQUEST -> new BadRequest(message, detail, cause);
      case BAD_CONTRACT -> new BadContract(message, detail, cause);
      case BAD_PROFILE -> new BadProfile(message, detail, cause);
      case UNKNOWN_AGENT -> new UnknownAgent(message, detail, cause);
      case SEALED -> new Sealed(message, detail, cause);
      case OUT_OF_FUEL -> new OutOfFuel(message, detail, cause);
      case OUT_OF_MEMORY -> new OutOfMemory(message, detail, cause);
      case STACK_OVERFLOW -> new StackOverflow(message, detail, cause);
      case TIMEOUT -> new Timeout(message, detail, cause);
      case BUSY -> new Busy(message, detail, cause);
      case INPUT_TOO_LARGE -> new InputTooLarge(message, detail, cause);
      case TRAP -> new Trap(message, detail, cause);
    };
  }

  static Fault of(FaultCode code, String message) {
    return of(code, message, Detail.NONE, null);
  }

  /** Returns the fault for a document that cannot be read. */
  static Fault invalid(String argument, FaultCode code, String keyword, String message) {
    var violation = new Violation("$", keyword, "a JSON document", "", message, "", "", null);
    return of(code, argument + ": $ " + message, new Detail(List.of(violation), List.of(), null, null), null);
  }

  /** Returns the fault in an answer. */
  static Fault read(Json json) {
    FaultCode code = json.need("fault", FaultCode::read);
    String message = json.need("message", Json::asText);
    Detail detail = json.find("detail", Detail::read);
    return ofDocument(code, message, detail == null ? Detail.NONE : detail);
  }

  /** Converts a fault about a request to one about the contract or profile in it. */
  private static Fault ofDocument(FaultCode code, String message, Detail detail) {
    if (code != FaultCode.BAD_REQUEST || detail.violations().isEmpty()) {
      return of(code, message, detail, null);
    }
    Violation first = detail.violations().get(0);
    for (var what : List.of("contract", "profile")) {
      String pointer = "/" + what;
      if (!first.pointer().equals(pointer) && !first.pointer().startsWith(pointer + "/")) {
        continue;
      }
      List<Violation> violations =
          detail.violations().stream()
              .map(
                  one ->
                      new Violation(
                          one.path().startsWith("$." + what) ? "$" + one.path().substring(what.length() + 2) : one.path(),
                          one.keyword(),
                          one.expected(),
                          one.received(),
                          one.message(),
                          one.pointer().startsWith(pointer) ? one.pointer().substring(pointer.length()) : one.pointer(),
                          one.schemaPath(),
                          // The offsets refer to the request, which the caller has not seen.
                          null))
              .toList();
      FaultCode of = what.equals("contract") ? FaultCode.BAD_CONTRACT : FaultCode.BAD_PROFILE;
      Violation moved = violations.get(0);
      return of(
          of,
          what + ": " + moved.path() + " " + moved.message(),
          new Detail(violations, detail.agents(), detail.bytes(), detail.limit()),
          null);
    }
    return of(code, message, detail, null);
  }

  /** The request cannot be read, or lacks lists or evidence that the contract needs. */
  public static final class BadRequest extends Fault {
    private static final long serialVersionUID = 1L;

    private BadRequest(String message, Detail detail, @Nullable Throwable cause) {
      super(FaultCode.BAD_REQUEST, message, detail, cause);
    }
  }

  /** The contract is invalid, or its agent has another one. */
  public static final class BadContract extends Fault {
    private static final long serialVersionUID = 1L;

    private BadContract(String message, Detail detail, @Nullable Throwable cause) {
      super(FaultCode.BAD_CONTRACT, message, detail, cause);
    }
  }

  /** The profile is invalid, contradicts its examples, or its agent has another one. */
  public static final class BadProfile extends Fault {
    private static final long serialVersionUID = 1L;

    private BadProfile(String message, Detail detail, @Nullable Throwable cause) {
      super(FaultCode.BAD_PROFILE, message, detail, cause);
    }
  }

  /** No contract or profile is registered for the agent. */
  public static final class UnknownAgent extends Fault {
    private static final long serialVersionUID = 1L;

    private UnknownAgent(String message, Detail detail, @Nullable Throwable cause) {
      super(FaultCode.UNKNOWN_AGENT, message, detail, cause);
    }
  }

  /** The contracts are baked in, and no others can be registered. */
  public static final class Sealed extends Fault {
    private static final long serialVersionUID = 1L;

    private Sealed(String message, Detail detail, @Nullable Throwable cause) {
      super(FaultCode.SEALED, message, detail, cause);
    }
  }

  /** The call used all its fuel. */
  public static final class OutOfFuel extends Fault {
    private static final long serialVersionUID = 1L;

    private OutOfFuel(String message, Detail detail, @Nullable Throwable cause) {
      super(FaultCode.OUT_OF_FUEL, message, detail, cause);
    }
  }

  /** The call asked for more memory than an instance may have. */
  public static final class OutOfMemory extends Fault {
    private static final long serialVersionUID = 1L;

    private OutOfMemory(String message, Detail detail, @Nullable Throwable cause) {
      super(FaultCode.OUT_OF_MEMORY, message, detail, cause);
    }
  }

  /** The call used all its stack. */
  public static final class StackOverflow extends Fault {
    private static final long serialVersionUID = 1L;

    private StackOverflow(String message, Detail detail, @Nullable Throwable cause) {
      super(FaultCode.STACK_OVERFLOW, message, detail, cause);
    }
  }

  /**
   * The call took too long, or its thread was interrupted, in which case the cause is an {@link InterruptedException}.
   */
  public static final class Timeout extends Fault {
    private static final long serialVersionUID = 1L;

    private Timeout(String message, Detail detail, @Nullable Throwable cause) {
      super(FaultCode.TIMEOUT, message, detail, cause);
    }
  }

  /** No instance was free in time. */
  public static final class Busy extends Fault {
    private static final long serialVersionUID = 1L;

    private Busy(String message, Detail detail, @Nullable Throwable cause) {
      super(FaultCode.BUSY, message, detail, cause);
    }
  }

  /** The output is longer than the limit. */
  public static final class InputTooLarge extends Fault {
    private static final long serialVersionUID = 1L;

    private InputTooLarge(String message, Detail detail, @Nullable Throwable cause) {
      super(FaultCode.INPUT_TOO_LARGE, message, detail, cause);
    }
  }

  /** The module failed. Please report this as a bug in seamgate. */
  public static final class Trap extends Fault {
    private static final long serialVersionUID = 1L;

    private Trap(String message, Detail detail, @Nullable Throwable cause) {
      super(FaultCode.TRAP, message, detail, cause);
    }
  }
}
