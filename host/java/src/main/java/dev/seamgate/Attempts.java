package dev.seamgate;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The attempts of one run, step by step, for callers that ask the producer themselves. */
public final class Attempts {
  private final Gate gate;
  private final Request request;
  private final long most;
  private final boolean allowPartial;
  private final List<Report> reports = new ArrayList<>();
  private final List<Findings> findings = new ArrayList<>();
  private @Nullable Report merged;

  Attempts(Gate gate, Request request, long most, boolean allowPartial) {
    this.gate = gate;
    this.request = request;
    this.most = most;
    this.allowPartial = allowPartial;
  }

  /**
   * The next step: ask the producer, or stop.
   *
   * @param feedback the feedback for the producer; empty in the first attempt, and if the run stops.
   * @param stop the reason to stop, or null to ask the producer.
   */
  public record Next(String feedback, @Nullable Stop stop) {}

  /** The violations after an attempt, without positions, so that those of different texts can be compared. */
  private record Findings(List<Violation> wrong, List<Missing> missing, Wanted wanted) {
    static Findings of(ReportDocument last, ReportDocument whole) {
      List<Violation> wrong = new ArrayList<>(violations(last));
      wrong.addAll(violations(whole));
      List<Missing> missing = new ArrayList<>();
      for (var item : whole.quarantined()) {
        wrong.addAll(item.violations());
        missing.add(new Missing(item.index(), item.reason()));
      }
      return new Findings(wrong.stream().map(Findings::anywhere).toList(), missing, whole.wanted());
    }

    private static Violation anywhere(Violation of) {
      return new Violation(
          of.path(),
          of.keyword(),
          of.expected(),
          of.received(),
          of.message(),
          of.pointer(),
          of.schemaPath(),
          null);
    }
  }

  private record Missing(long index, QuarantineReason reason) {}

  private static List<Violation> violations(ReportDocument report) {
    var error = report.error();
    return error == null ? List.of() : error.violations();
  }

  /** Returns the number of attempts that were judged. */
  public synchronized int count() {
    return reports.size();
  }

  /** Returns the verdict on all attempts together; null before the first. */
  public synchronized @Nullable Report report() {
    return merged;
  }

  /** Judges the next output. The verdict is on that output alone. */
  public synchronized Verdict judge(Produced produced) {
    var of = request.output(produced.output());
    var verdict = gate.validate(produced.finish() == null ? of : of.finish(produced.finish()));
    var whole = verdict.report();
    var usage = verdict.usage();
    if (!reports.isEmpty()) {
      List<Report> all = new ArrayList<>(reports);
      all.add(verdict.report());
      var together = gate.merge(all, request);
      whole = together.report();
      usage = sum(usage, together.usage());
    }
    findings.add(Findings.of(verdict.report().document(), whole.document()));
    reports.add(verdict.report());
    merged = whole;
    return new Verdict(verdict.report(), usage);
  }

  private static Usage sum(Usage one, Usage other) {
    Duration elapsed = one.elapsed().plus(other.elapsed());
    return new Usage(one.fuel() + other.fuel(), Math.max(one.memory(), other.memory()), elapsed);
  }

  /** Returns the next step: ask the producer with this feedback, or stop. */
  public synchronized Next next() {
    if (merged == null) {
      return new Next("", null);
    }
    var whole = merged.document();
    var last = reports.get(reports.size() - 1).document();
    var stop = stop(whole, last);
    return stop == null ? new Next(feedback(whole, last), null) : new Next("", stop);
  }

  private @Nullable Stop stop(ReportDocument whole, ReportDocument last) {
    boolean isPartial = whole.disposition() == Disposition.PARTIAL;
    boolean isMissing = whole.quarantined().stream().anyMatch(item -> item.reason() != QuarantineReason.OVER_LIMIT);
    if (whole.disposition() == Disposition.ACCEPTED) {
      return Stop.ACCEPTED;
    }
    if (whole.disposition() == Disposition.REFUSED) {
      return Stop.REFUSED;
    }
    if (isPartial && allowPartial && !isMissing) {
      return Stop.PARTIAL;
    }
    // Nothing is missing, and only the syntax was repaired.
    boolean isRepaired = isPartial && whole.wanted() == Wanted.NOTHING;
    var stop = isRepaired ? Stop.NOT_RETRYABLE : giveUp(last);
    return stop != null && isPartial && allowPartial ? Stop.PARTIAL : stop;
  }

  private @Nullable Stop giveUp(ReportDocument last) {
    var error = last.error();
    if (last.disposition() == Disposition.REFUSED || (error != null && !error.retryable())) {
      return Stop.NOT_RETRYABLE;
    }
    int count = findings.size();
    if (count > 1 && findings.get(count - 1).equals(findings.get(count - 2))) {
      return Stop.REPEATED;
    }
    return reports.size() >= most ? Stop.LIMIT : null;
  }

  /** Returns the feedback for the producer. If the last output added nothing to the earlier ones, it says why. */
  private static String feedback(ReportDocument whole, ReportDocument last) {
    boolean hasOutput = whole.disposition() == Disposition.ACCEPTED || whole.disposition() == Disposition.PARTIAL;
    boolean isUseless =
        hasOutput && last.disposition() == Disposition.REJECTED && !last.feedback().equals(whole.feedback());
    var violations = violations(last);
    if (!isUseless || violations.isEmpty()) {
      return whole.feedback();
    }
    var first = violations.get(0);
    return "The last answer could not be used as it was:\n- at "
        + first.path()
        + ": "
        + first.message()
        + ".\n"
        + whole.feedback();
  }
}
