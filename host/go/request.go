package seamgate

import (
	"errors"
	"strconv"
	"unicode/utf8"
)

// A Request is an output to judge, and what comes with it.
type Request struct {
	// Agent names whose registered contract applies.
	Agent string
	// Contract is a contract to judge by without registering it, as JSON text. Then Agent must be empty.
	Contract []byte
	// Output is what the agent produced, prose and fences included. Bytes that are not UTF-8 reject it, with the place.
	Output []byte
	// Finish is why the producer stopped, in our words or as its API said (`end_turn`, `MAX_TOKENS` …). Default: unknown.
	Finish Finish
	// Lists are those that the contract's `allow` names.
	Lists map[string][]string
	// Evidence is what the agent saw. If the contract has `evidence`, nil is the fault [ErrBadRequest], and an empty slice
	// is not.
	Evidence []Seen
}

// Seen is what an agent saw of one result, for claims to cite. What is left out allows least.
type Seen struct {
	// ID is what claims cite it by: 1 to 256 bytes, and no other has it.
	ID string `json:"id"`
	// Text is what the agent saw of it, character for character: at most 1 MiB.
	Text string `json:"text"`
	// Kinds are the kinds of evidence that it is.
	Kinds []string `json:"kinds,omitempty"`
	// Labels are what is known of it: `stale`, `sampled`, `partial`, `truncated` and `empty` have a meaning.
	Labels []string `json:"labels,omitempty"`
	// Confidence is the most that its source allows a claim to state. Default: low.
	Confidence Confidence `json:"confidence,omitempty"`
	// Complete says that all of the result was seen, so that what is not in it is not there.
	Complete bool `json:"complete,omitempty"`
	// Limitations are codes of what limits it. Each claim that cites it must repeat them.
	Limitations []string `json:"limitations,omitempty"`
}

// Seen returns what claims may cite of an observation.
func (o *Observation) Seen() Seen {
	seen := Seen{ID: o.ID, Text: o.Text, Kinds: o.Kinds, Labels: o.Labels, Confidence: o.Confidence, Complete: o.Complete}
	for _, limitation := range o.Limitations {
		seen.Limitations = append(seen.Limitations, string(limitation))
	}
	return seen
}

// A written is a request as JSON text, and how many bytes of it count.
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
	// What is escaped in it takes fuel, too.
	text = append(text, '}')
	return written{text, len(text)}, nil
}

// extras appends what comes with an output. It also returns how many bytes the evidence has.
func (r *Request) extras(text []byte, withFinish bool) ([]byte, int, error) {
	if withFinish && r.Finish != "" {
		text = appendText(append(text, `,"finish":`...), string(r.Finish))
	}
	if r.Lists != nil {
		lists := make(map[string][]string, len(r.Lists))
		for name, values := range r.Lists {
			// A list without values is a list.
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
