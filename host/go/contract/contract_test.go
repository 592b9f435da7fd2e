package contract_test

import (
	"fmt"
	"testing"
	"time"

	seamgate "seamgate.dev/go"
	"seamgate.dev/go/contract"
)

type order struct {
	ID    string    `json:"id" jsonschema:"pattern=^[A-Z]-[0-9]+$"`
	Count int       `json:"count" jsonschema:"minimum=1,maximum=99"`
	Note  string    `json:"note,omitempty"`
	Lines []line    `json:"lines" jsonschema:"minItems=1"`
	When  time.Time `json:"when"`
	Kind  string    `json:"kind" jsonschema:"enum=new,enum=used"`
}

type line struct {
	Text string `json:"text"`
	Next *line  `json:"next,omitempty"`
}

const good = `{"id":"A-7","count":2,"lines":[{"text":"a","next":{"text":"b"}}],"when":"2026-11-27T00:00:00Z","kind":"new"}`

func TestTypesMakeContracts(t *testing.T) {
	text, err := contract.Of[order]("orders", map[string]any{"retry": map[string]int{"limit": 1}})
	if err != nil {
		t.Fatal(err)
	}
	gate, err := seamgate.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = gate.Close() }()
	info, err := gate.Register(t.Context(), text)
	if err != nil || info.RetryLimit != 1 {
		t.Fatal(info, err)
	}
	for output, keyword := range map[string]string{
		good: "",
		`{}`: "required",
		`{"id":"a","count":2,"lines":[{"text":"a"}],"when":"2026-11-27T00:00:00Z","kind":"new"}`:         "pattern",
		`{"id":"A-7","count":0,"lines":[{"text":"a"}],"when":"2026-11-27T00:00:00Z","kind":"new"}`:       "minimum",
		`{"id":"A-7","count":1,"lines":[],"when":"2026-11-27T00:00:00Z","kind":"new"}`:                   "minItems",
		`{"id":"A-7","count":1,"lines":[{"text":1}],"when":"2026-11-27T00:00:00Z","kind":"new"}`:         "type",
		`{"id":"A-7","count":1,"lines":[{"text":"a"}],"when":"2026-11-27T00:00:00Z","kind":"old"}`:       "enum",
		`{"id":"A-7","count":1,"lines":[{"text":"a"}],"when":"2026-11-27T00:00:00Z","kind":"new","x":1}`: "additionalProperties",
	} {
		verdict, err := gate.Validate(t.Context(), seamgate.Request{Agent: "orders", Output: []byte(output)})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if violations := verdict.Report.Violations(); len(violations) > 0 {
			got = violations[0].Keyword
		}
		if got != keyword {
			t.Errorf("%s: %q, not %q", output, got, keyword)
		}
		var value order
		if err := verdict.Report.Decode(&value); (err == nil) != (keyword == "") {
			t.Errorf("%s: %v", output, err)
		}
	}
	if _, err := contract.Of[order]("orders", map[string]any{"schema": true}); err == nil {
		t.Error("a schema is given twice")
	}
}

func ExampleOf() {
	type answer struct {
		Answer string  `json:"answer"`
		Sure   float64 `json:"sure" jsonschema:"minimum=0,maximum=1"`
	}
	text, err := contract.Of[answer]("assistant", nil)
	fmt.Println(len(text) > 0, err)
	// Output: true <nil>
}
