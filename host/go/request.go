package seamgate

import (
	"errors"
	"strconv"
	"unicode/utf8"
)

// A Request is an output to judge, with its options.
type Request struct {
	// Agent is the agent whose registered contract applies.
	Agent string
	// Contract is a contract to judge by without registering it, as JSON text. Then Agent must be empty.
	Contract []byte
	// Output is the agent's output, prose and fences included. If it has bytes that are not UTF-8, it is rejected, and the
	// report names their position.
	Output []byte
	// Finish is the reason why the producer stopped: one of the module's words, or its API's own word (`end_turn`,
	// `MAX_TOKENS` …). Default: unknown.
	Finish Finish
	// Lists are the lists that the contract's `allow` names.
	Lists map[string][]string
	// Evidence has the results that the agent saw. If the contract has `evidence`, nil is the fault [ErrBadRequest]; an
	// empty slice is not.
	Evidence []Seen
}

// Seen is a result as an agent saw it, which claims can cite. The defaults are the strictest values.
type Seen struct {
	// ID is the unique id by which claims cite it: 1 to 256 bytes.
	ID string `json:"id"`
	// Text is the text that the agent saw, character for character: at most 1 MiB.
	Text string `json:"text"`
	// Kinds are the kinds of evidence that it counts as.
	Kinds []string `json:"kinds,omitempty"`
	// Labels are its labels. `stale`, `sampled`, `partial`, `truncated` and `empty` have a meaning.
	Labels []string `json:"labels,omitempty"`
	// Confidence is the highest confidence that a claim citing it may state. Default: low.
	Confidence Confidence `json:"confidence,omitempty"`
	// Complete is true if the agent saw the whole result, so that absence from it proves absence.
	Complete bool `json:"complete,omitempty"`
	// Limitations are the codes of its limitations. Each claim that cites it must repeat them.
	Limitations []string `json:"limitations,omitempty"`
}

// Seen converts an observation to evidence that claims can cite.
func (o *Observation) Seen() Seen {
	seen := Seen{ID: o.ID, Text: o.Text, Kinds: o.Kinds, Labels: o.Labels, Confidence: o.Confidence, Complete: o.Complete}
	for _, limitation := range o.Limitations {
		seen.Limitations = append(seen.Limitations, string(limitation))
	}
	return seen
}

// A written is a request as JSON text, and the number of its bytes that count towards fuel.
type written struct {
	text  []byte
	bytes int
}

// validation writes the request for a verdict.
func (r *Request) validation(limits *Limits) (written, error) {
	if (r.Agent == "") == (r.Contract == nil) {
		return written{}, errors.New("seamgate: a request must name an agent or hold a contract, and not both")
	}
	if err := limits.smallEnough(len(r.Output)); err != nil {
		return written{}, err
	}
	output, invalid := replaced(r.Output)
	text := make([]byte, 0, len(r.Agent)+len(r.Contract)+len(output)+len(output)/8+128)
	text = append(text, '{')
	if r.Contract != nil {
		if err := document("contract", r.Contract, ErrBadContract); err != nil {
			return written{}, err
		}
		text = append(append(append(text, `"contract":`...), r.Contract...), ',')
	} else {
		text = append(appendText(append(text, `"agent":`...), r.Agent), ',')
	}
	text = appendString(append(text, `"output":`...), output)
	text, evidence, err := r.extras(text, true)
	if err != nil {
		return written{}, err
	}
	if err := limits.smallEnough(len(output) + evidence); err != nil {
		return written{}, err
	}
	if invalid >= 0 {
		text = strconv.AppendInt(append(text, `,"invalid_utf8":`...), int64(invalid), 10)
	}
	// Escapes count as well.
	text = append(text, '}')
	return written{text, len(text)}, nil
}

// extras appends the options of an output. It also returns the size of the evidence in bytes.
func (r *Request) extras(text []byte, withFinish bool) ([]byte, int, error) {
	if withFinish && r.Finish != "" {
		text = appendText(append(text, `,"finish":`...), string(r.Finish))
	}
	if r.Lists != nil {
		lists := make(map[string][]string, len(r.Lists))
		for name, values := range r.Lists {
			// An empty list must be `[]`, not null.
			lists[name] = append([]string{}, values...)
		}
		written, err := marshal(lists)
		if err != nil {
			return nil, 0, err
		}
		text = append(append(text, `,"lists":`...), written...)
	}
	evidence := 0
	if r.Evidence != nil {
		written, err := marshal(r.Evidence)
		if err != nil {
			return nil, 0, err
		}
		text = append(append(text, `,"evidence":`...), written...)
		evidence = len(written)
	}
	return text, evidence, nil
}

func appendText(to []byte, text string) []byte {
	bytes := []byte(text)
	if !utf8.Valid(bytes) {
		bytes, _ = replaced(bytes)
	}
	return appendString(to, bytes)
}
