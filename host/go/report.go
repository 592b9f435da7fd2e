package seamgate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

// A Report is the verdict on one output. It is data, never an error. It is safe for concurrent use.
//
// Its members are read from [Report.JSON] on first access.
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

// ReadReport reads the text of a report, from [Report.JSON] or from another host.
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

// reportHead is the beginning of every report.
var reportHead = []byte(`{"disposition":"`)

// JSON returns the report as JSON text: the same bytes in every runtime. The caller must not change them.
func (r *Report) JSON() []byte { return r.json }

// MarshalJSON implements [json.Marshaler].
func (r *Report) MarshalJSON() ([]byte, error) { return r.json, nil }

// Disposition returns the disposition of the output.
func (r *Report) Disposition() Disposition {
	rest := r.json[len(reportHead):]
	return Disposition(rest[:bytes.IndexByte(rest, '"')])
}

// Accepted returns whether the output is accepted. A partial output is not: check what is in quarantine before you use
// it.
func (r *Report) Accepted() bool { return r.Disposition() == DispositionAccepted }

// Output returns the validated document as JSON text, with the digits of numbers as written. It is nil if the output
// was rejected or refused.
func (r *Report) Output() json.RawMessage {
	if of := r.Disposition(); of != DispositionAccepted && of != DispositionPartial {
		return nil
	}
	// Members have a fixed order, and quotes in earlier texts are escaped, so the first match is the member.
	const name = `"output":`
	start := bytes.Index(r.json, []byte(name)) + len(name)
	return r.json[start:valueEnd(r.json, start)]
}

// ErrNoOutput is the error of [Report.Decode] if there is no document.
var ErrNoOutput = fmt.Errorf("seamgate: the output was rejected or refused, so there is no document to decode")

// Decode decodes the validated document into the value that value points to. A partial document is decoded as well.
func (r *Report) Decode(value any) error {
	output := r.Output()
	if output == nil {
		return ErrNoOutput
	}
	return json.Unmarshal(output, value)
}

// Document returns all members of the report. The caller must not change it.
func (r *Report) Document() (*ReportDocument, error) { return r.document() }

// Feedback returns the feedback for the producer: what was wrong and where. Empty if the output is accepted.
func (r *Report) Feedback() string {
	document, err := r.Document()
	if err != nil {
		return ""
	}
	return document.Feedback
}

// Violations returns the violations of the output. Empty if it is accepted or partial.
func (r *Report) Violations() []Violation {
	document, err := r.Document()
	if err != nil || document.Error == nil {
		return nil
	}
	return document.Error.Violations
}

// Usage is the resource usage of one call. It is kept beside the report, never inside it.
type Usage struct {
	// Fuel is about one unit per WebAssembly instruction. The same request uses the same fuel on every machine.
	Fuel int64 `json:"fuel"`
	// Memory is the peak memory of the instance, in bytes.
	Memory int `json:"memory"`
	// Elapsed is the wall-clock time.
	Elapsed time.Duration `json:"elapsed"`
}

// A Verdict is a report and its resource usage.
type Verdict struct {
	Report *Report
	Usage  Usage
}

// An Answer is the answer to one request that is JSON text, and its resource usage.
type Answer struct {
	// JSON is one line: `{"id":…,"report":{…}}`, `{"id":…,"result":…}` or `{"id":…,"fault":{…}}`.
	JSON  []byte
	Usage Usage
}
