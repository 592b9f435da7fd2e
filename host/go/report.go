package seamgate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

// A Report is the verdict on one output. Data, never an error. It is safe for concurrent use.
//
// Its members are read from [Report.JSON] when they are asked for.
type Report struct {
	json     []byte
	document func() (*ReportDocument, error)
}

func newReport(text []byte) *Report {
	return &Report{json: text, document: sync.OnceValues(func() (*ReportDocument, error) {
		document := new(ReportDocument)
		if err := json.Unmarshal(text, document); err != nil {
			return nil, fmt.Errorf("seamgate: the report cannot be read: %w", err)
		}
		return document, nil
	})}
}

// ReadReport reads the text of a report, as [Report.JSON] or another host gave it.
func ReadReport(text []byte) (*Report, error) {
	if !bytes.HasPrefix(text, reportHead) {
		return nil, fmt.Errorf("seamgate: a report must begin with %s, without white space", reportHead)
	}
	report := newReport(bytes.Clone(text))
	if _, err := report.Document(); err != nil {
		return nil, err
	}
	return report, nil
}

// reportHead is what every report begins with.
var reportHead = []byte(`{"disposition":"`)

// JSON returns the report as JSON text: the same bytes in every runtime. The caller must not change them.
func (r *Report) JSON() []byte { return r.json }

// MarshalJSON implements [json.Marshaler].
func (r *Report) MarshalJSON() ([]byte, error) { return r.json, nil }

// Disposition returns what became of the output.
func (r *Report) Disposition() Disposition {
	rest := r.json[len(reportHead):]
	return Disposition(rest[:bytes.IndexByte(rest, '"')])
}

// Accepted returns whether the output was accepted. A partial one was not: look at what is in quarantine before you use it.
func (r *Report) Accepted() bool { return r.Disposition() == DispositionAccepted }

// Output returns the validated document as JSON text, numbers with the digits they were written with. It is nil if there is
// none: the output was rejected or refused.
func (r *Report) Output() json.RawMessage {
	if of := r.Disposition(); of != DispositionAccepted && of != DispositionPartial {
		return nil
	}
	// Members have one order, and texts before this one are escaped: its first place is its place.
	const name = `"output":`
	start := bytes.Index(r.json, []byte(name)) + len(name)
	return r.json[start:valueEnd(r.json, start)]
}

// ErrNoOutput is the error of [Report.Decode] if there is no document.
var ErrNoOutput = fmt.Errorf("seamgate: the output was rejected or refused, so there is no document to decode")

// Decode stores the validated document in what value points to. A partial document is decoded, too.
func (r *Report) Decode(value any) error {
	output := r.Output()
	if output == nil {
		return ErrNoOutput
	}
	return json.Unmarshal(output, value)
}

// Document returns all members of the report. The caller must not change it.
func (r *Report) Document() (*ReportDocument, error) { return r.document() }

// Feedback returns what to send back to the producer: what was wrong and where. Empty if the output was accepted.
func (r *Report) Feedback() string {
	document, err := r.Document()
	if err != nil {
		return ""
	}
	return document.Feedback
}

// Violations returns what is wrong with the output. Empty if it was accepted or partial.
func (r *Report) Violations() []Violation {
	document, err := r.Document()
	if err != nil || document.Error == nil {
		return nil
	}
	return document.Error.Violations
}

// Usage is what one call used. It stands beside the report, never inside it.
type Usage struct {
	// Fuel is about one unit for each WebAssembly instruction. The same request takes the same on every machine.
	Fuel int64 `json:"fuel"`
	// Memory is the most that the instance had, in bytes.
	Memory int `json:"memory"`
	// Elapsed is the wall clock.
	Elapsed time.Duration `json:"elapsed"`
}

// A Verdict is a report and what it took.
type Verdict struct {
	Report *Report
	Usage  Usage
}

// An Answer is the answer to one request that is JSON text, and what it took.
type Answer struct {
	// JSON is one line: `{"id":…,"report":{…}}`, `{"id":…,"result":…}` or `{"id":…,"fault":{…}}`.
	JSON  []byte
	Usage Usage
}
