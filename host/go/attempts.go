package seamgate

import (
	"context"
	"fmt"
	"reflect"
	"slices"
)

// Stop is the reason why a run ended.
type Stop string

// Reasons to stop.
const (
	// StopAccepted: the output is accepted.
	StopAccepted Stop = "accepted"
	// StopPartial: part of the output is valid, and the caller accepts that.
	StopPartial Stop = "partial"
	// StopRefused: the producer declined.
	StopRefused Stop = "refused"
	// StopNotRetryable: another attempt by the same producer cannot help.
	StopNotRetryable Stop = "not_retryable"
	// StopRepeated: two attempts in a row had the same violations.
	StopRepeated Stop = "repeated"
	// StopLimit: the run made as many attempts as the contract's `retry.limit` allows.
	StopLimit Stop = "limit"
)

// Produced is the output of a producer, and why it stopped.
type Produced struct {
	Output []byte
	Finish Finish
}

// A Producer returns an output, usually of a model. feedback is the feedback on its last output; empty in the first
// attempt.
type Producer func(ctx context.Context, feedback string, attempt int) (Produced, error)

// An Outcome is how a run ended.
type Outcome struct {
	// Report is the verdict on all attempts together.
	Report *Report
	// Attempts is the number of attempts.
	Attempts int
	// Stop is the reason why the run ended.
	Stop Stop
}

// Usable returns whether the run ended with a document that may be used: accepted, or partial if the caller allowed that.
func (o *Outcome) Usable() bool { return o.Stop == StopAccepted || o.Stop == StopPartial }

// Run asks a producer until its output is accepted, or there is a reason to stop. The contract's `retry.limit` says how often to
// ask again. The request names the agent, the lists and the evidence; its output is ignored. allowPartial lets the run end with
// a partial document.
//
// An error of the producer ends the run, and is returned unchanged.
func (g *Gate) Run(ctx context.Context, request Request, allowPartial bool, produce Producer) (*Outcome, error) {
	attempts, err := g.Attempts(ctx, request, allowPartial)
	if err != nil {
		return nil, err
	}
	for {
		feedback, stop := attempts.Next()
		if stop != "" {
			return &Outcome{Report: attempts.Report(), Attempts: attempts.Count(), Stop: stop}, nil
		}
		produced, err := produce(ctx, feedback, attempts.Count()+1)
		if err != nil {
			return nil, err
		}
		if _, err := attempts.Judge(ctx, produced); err != nil {
			return nil, err
		}
	}
}

// Attempts are those of one run, step by step, for callers that ask the producer themselves. One goroutine at a time may use
// them.
type Attempts struct {
	gate         *Gate
	request      Request
	most         int
	allowPartial bool
	reports      []*Report
	documents    []*ReportDocument
	merged       *Report
	whole        *ReportDocument
	findings     []findings
}

// findings are the violations after an attempt, without positions in the text, so that those of different texts can be
// compared.
type findings struct {
	Wrong   []Violation
	Missing []missing
	Wanted  Wanted
}

type missing struct {
	Index  int
	Reason QuarantineReason
}

// Attempts begins a run: see [Gate.Run]. Missing lists are a fault now, before the producer is asked.
func (g *Gate) Attempts(ctx context.Context, request Request, allowPartial bool) (*Attempts, error) {
	info, err := g.Contract(ctx, request.Agent)
	if err != nil {
		return nil, err
	}
	request.Output = nil
	if _, err := g.Validate(ctx, request); err != nil {
		return nil, err
	}
	return &Attempts{gate: g, request: request, most: info.RetryLimit + 1, allowPartial: allowPartial}, nil
}

// Count returns how many attempts were judged.
func (a *Attempts) Count() int { return len(a.reports) }

// Report returns the verdict on all attempts together; nil before the first.
func (a *Attempts) Report() *Report { return a.merged }

// Judge judges the next output. The verdict is on that output alone.
func (a *Attempts) Judge(ctx context.Context, produced Produced) (*Verdict, error) {
	request := a.request
	request.Output, request.Finish = produced.Output, produced.Finish
	verdict, err := a.gate.Validate(ctx, request)
	if err != nil {
		return nil, err
	}
	merged, usage := verdict.Report, verdict.Usage
	reports := append(slices.Clone(a.reports), verdict.Report)
	if len(reports) > 1 {
		together, err := a.gate.Merge(ctx, reports, a.request)
		if err != nil {
			return nil, err
		}
		merged = together.Report
		usage.Fuel += together.Usage.Fuel
		usage.Memory = max(usage.Memory, together.Usage.Memory)
		usage.Elapsed += together.Usage.Elapsed
	}
	last, err := verdict.Report.Document()
	if err != nil {
		return nil, err
	}
	whole, err := merged.Document()
	if err != nil {
		return nil, err
	}
	a.reports, a.documents = reports, append(a.documents, last)
	a.merged, a.whole = merged, whole
	a.findings = append(a.findings, found(last, whole))
	return &Verdict{Report: verdict.Report, Usage: usage}, nil
}

func found(last, whole *ReportDocument) findings {
	var f findings
	f.Wrong = append(f.Wrong, last.violations()...)
	f.Wrong = append(f.Wrong, whole.violations()...)
	for _, item := range whole.Quarantined {
		f.Wrong = append(f.Wrong, item.Violations...)
		f.Missing = append(f.Missing, missing{item.Index, item.Reason})
	}
	for index := range f.Wrong {
		f.Wrong[index].Span = nil
	}
	f.Wanted = whole.Wanted
	return f
}

func (d *ReportDocument) violations() []Violation {
	if d.Error == nil {
		return nil
	}
	return d.Error.Violations
}

// Next returns the feedback with which to ask the producer, or the reason to stop if it is not empty.
func (a *Attempts) Next() (feedback string, stop Stop) {
	if a.whole == nil {
		return "", ""
	}
	last := a.documents[len(a.documents)-1]
	isMissing := slices.ContainsFunc(a.whole.Quarantined, func(item Quarantined) bool {
		return item.Reason != QuarantineReasonOverLimit
	})
	isPartial := a.whole.Disposition == DispositionPartial
	switch {
	case a.whole.Disposition == DispositionAccepted:
		stop = StopAccepted
	case a.whole.Disposition == DispositionRefused:
		stop = StopRefused
	case isPartial && a.allowPartial && !isMissing:
		stop = StopPartial
	case isPartial && a.whole.isRepaired():
		stop = StopNotRetryable
	default:
		stop = a.giveUp(last)
	}
	if stop != "" && isPartial && a.allowPartial {
		stop = StopPartial
	}
	if stop != "" {
		return "", stop
	}
	return feedbackOn(a.whole, last), ""
}

func (a *Attempts) giveUp(last *ReportDocument) Stop {
	count := len(a.findings)
	switch {
	case last.Disposition == DispositionRefused || last.Error != nil && !last.Error.Retryable:
		return StopNotRetryable
	case count > 1 && reflect.DeepEqual(a.findings[count-1], a.findings[count-2]):
		return StopRepeated
	case a.Count() >= a.most:
		return StopLimit
	default:
		return ""
	}
}

// feedbackOn returns the feedback for the producer. If the last output added nothing to the earlier attempts, it says
// why.
func feedbackOn(whole, last *ReportDocument) string {
	isUseless := whole.hasOutput() && last.Disposition == DispositionRejected && last.Feedback != whole.Feedback
	if violations := last.violations(); isUseless && len(violations) > 0 {
		first := violations[0]
		return fmt.Sprintf("The last answer could not be used as it was:\n- at %s: %s.\n%s", first.Path, first.Message, whole.Feedback)
	}
	return whole.Feedback
}

func (d *ReportDocument) hasOutput() bool {
	return d.Disposition == DispositionAccepted || d.Disposition == DispositionPartial
}

// isRepaired returns whether nothing is missing and only the syntax was repaired.
func (d *ReportDocument) isRepaired() bool {
	return d.Disposition == DispositionPartial && d.Wanted == WantedNothing
}
