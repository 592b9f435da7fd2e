package seamgate_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	seamgate "seamgate.dev/go"
)

func shop(t *testing.T) *seamgate.Gate {
	t.Helper()
	gate := gateFor(t)
	if _, err := gate.RegisterProfile(t.Context(), file(t, "tests/runs/loop/profile.json")); err != nil {
		t.Fatal(err)
	}
	return gate
}

// inFolder reads a file of a case, or of its group.
func inFolder(folder, name string) json.RawMessage {
	for _, folder := range []string{folder, filepath.Dir(folder)} {
		if text, err := os.ReadFile(filepath.Join(folder, name)); err == nil {
			return text
		}
	}
	return nil
}

// factsOf returns the facts of a group, with those of the case in their place. There, null leaves one out.
func factsOf(folder string) []byte {
	facts := map[string]json.RawMessage{}
	for _, folder := range []string{filepath.Dir(folder), folder} {
		if text, err := os.ReadFile(filepath.Join(folder, "facts.json")); err == nil && json.Unmarshal(text, &facts) != nil {
			return text
		}
	}
	maps.DeleteFunc(facts, func(_ string, fact json.RawMessage) bool { return string(fact) == "null" })
	return must(json.Marshal(facts))
}

// strictly decodes a document, and fails if it has a member that the package does not know.
func strictly(text []byte, to any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode(to)
}

func TestTypedDecisionsAreThoseOfTheCases(t *testing.T) {
	calls, _ := filepath.Glob(filepath.Join(root, "tests/calls/*/*/must.txt"))
	if len(calls) == 0 {
		t.Skip("the repository is not around this package")
	}
	compared := 0
	for _, path := range calls {
		folder := filepath.Dir(path)
		var facts seamgate.Facts
		var call seamgate.Call
		var result seamgate.ToolResult
		known := strictly(factsOf(folder), &facts)
		known = errors.Join(known, strictly(inFolder(folder, "call.json"), &call))
		of, ask := "decision.json", func(gate *seamgate.Gate, agent string) ([]byte, error) {
			decision, err := gate.Permit(t.Context(), agent, facts, call)
			return decision.JSON, err
		}
		if text, err := os.ReadFile(filepath.Join(folder, "result.json")); err == nil {
			known = errors.Join(known, strictly(text, &result))
			of, ask = "observation.json", func(gate *seamgate.Gate, agent string) ([]byte, error) {
				observation, err := gate.Observe(t.Context(), agent, facts, call, result)
				return observation.JSON, err
			}
		}
		want, err := os.ReadFile(filepath.Join(folder, of))
		if err != nil || known != nil {
			// It is about an invalid document, or about a surface.
			continue
		}
		gate := gateFor(t)
		info, err := gate.RegisterProfile(t.Context(), inFolder(folder, "profile.json"))
		if err != nil {
			t.Errorf("%s: %v", folder, err)
			continue
		}
		got, err := ask(gate, info.Agent)
		if err != nil || !sameJSON(got, want) {
			t.Errorf("%s: %v: %s", folder, err, got)
		}
		compared++
	}
	if compared < 150 {
		t.Errorf("only %d of %d cases were compared", compared, len(calls))
	}
}

func sameJSON(one, other []byte) bool {
	var left, right bytes.Buffer
	if json.Compact(&left, one) != nil || json.Compact(&right, other) != nil {
		return false
	}
	return bytes.Equal(left.Bytes(), right.Bytes())
}

func TestTypedEventsLeadToTheSameSteps(t *testing.T) {
	runs, _ := filepath.Glob(filepath.Join(root, "tests/runs/*/*/events.ndjson"))
	if len(runs) == 0 {
		t.Skip("the repository is not around this package")
	}
	steps := 0
	for _, path := range runs {
		folder := filepath.Dir(path)
		gate := gateFor(t)
		info, err := gate.RegisterProfile(t.Context(), inFolder(folder, "profile.json"))
		if err != nil {
			// The case is about that.
			continue
		}
		var state json.RawMessage
		for at, line := range strings.Split(strings.TrimSpace(string(must(os.ReadFile(path)))), "\n") {
			if !strings.Contains(line, `"at"`) {
				line = fmt.Sprintf(`{"at":%d,%s`, 1_790_000_000_000+1000*int64(at), strings.TrimPrefix(line, "{"))
			}
			event, err := seamgate.ReadEvent([]byte(line))
			if err != nil {
				// Some events are invalid.
				break
			}
			typed, typedErr := gate.Advance(t.Context(), info.Agent, state, event)
			request := `{"op":"advance","agent":` + string(must(json.Marshal(info.Agent)))
			if state != nil {
				request += `,"state":` + string(state)
			}
			answer, err := gate.Call(t.Context(), []byte(request+`,"event":`+line+"}"))
			if err != nil {
				t.Fatal(err)
			}
			var fault *seamgate.Fault
			if errors.As(typedErr, &fault) && bytes.Contains(answer.JSON, []byte(`"fault":"`+string(fault.Code)+`"`)) {
				break
			}
			if typedErr == nil && bytes.HasPrefix(answer.JSON, []byte(`{"id":null,"fault":`)) {
				// It has a member that no type has.
				break
			}
			if typedErr != nil {
				t.Errorf("%s: %v, not %s", folder, typedErr, answer.JSON)
				break
			}
			// The state has digests of the events, by which it knows one that comes again: white space counts there. Members of
			// a parent's bounds keep the order in which they came.
			want := `{"id":null,"result":` + string(typed.JSON) + "}"
			if !reflect.DeepEqual(withoutSeen(answer.JSON), withoutSeen([]byte(want))) {
				t.Errorf("%s: %s\n  %s\n  %s", folder, line, answer.JSON, want)
				break
			}
			steps++
			if typed.State == nil {
				break
			}
			state = typed.State
		}
	}
	if steps < 1000 {
		t.Errorf("only %d steps were compared", steps)
	}
}

var seen = regexp.MustCompile(`"seen":\[[^]]*\]`)

func withoutSeen(text []byte) (value any) {
	if err := json.Unmarshal(seen.ReplaceAll(text, []byte(`"seen":[]`)), &value); err != nil {
		panic(err)
	}
	return value
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func TestLoopKeepsFacts(t *testing.T) {
	gate := shop(t)
	ctx := t.Context()
	loop := gate.Loop("sre-rca", seamgate.Facts{Run: "r1", Principal: "anna", Mode: "operate",
		Task: json.RawMessage(`{"service":"payment-api","env":"prod"}`)})
	if before := loop.Facts(); len(before.Nonce) != 32 {
		t.Errorf("%q", before.Nonce)
	}
	surface, err := loop.Surface(ctx, nil)
	if err != nil || len(surface.Tools) == 0 {
		t.Fatalf("%v, %v", surface, err)
	}
	call := seamgate.Call{Key: "c1", Server: surface.Tools[0].Server, Tool: surface.Tools[0].Tool}
	decision, err := loop.Permit(ctx, call)
	if err != nil {
		t.Fatal(err)
	}
	if err := loop.Answer(&seamgate.Decision{}, "anna", seamgate.ApprovalAnswerApproved); !errors.Is(err, seamgate.ErrNothingAsked) {
		t.Error(err)
	}
	loop.Spend(10, 0)
	facts := loop.Facts()
	if facts.At == 0 || facts.Used == nil || facts.Used.Tokens != 10 || decision.JSON == nil {
		t.Errorf("%+v", facts)
	}
}

func TestBakedGateHasItsContracts(t *testing.T) {
	command := filepath.Join(root, "target/release/seamgate")
	if _, err := os.Stat(command); err != nil {
		t.Skip("the command line is not built")
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "counter.contract.json"), []byte(counter), 0o600); err != nil {
		t.Fatal(err)
	}
	profile := file(t, "tests/runs/loop/profile.json")
	if err := os.WriteFile(filepath.Join(folder, "ops.profile.json"), profile, 0o600); err != nil {
		t.Fatal(err)
	}
	baked := filepath.Join(folder, "gate.wasm")
	if text, err := exec.Command(command, "bake", folder, "-o", baked).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	component, err := os.ReadFile(baked)
	if err != nil {
		t.Fatal(err)
	}
	gate, err := seamgate.New(t.Context(), seamgate.WithBaked(component))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = gate.Close() }()
	plain := validate(t, registered(t, counter), "counter", `{"count":0}`)
	verdict := validate(t, gate, "counter", `{"count":0}`)
	if !bytes.Equal(verdict.Report.JSON(), plain.Report.JSON()) || verdict.Usage.Fuel >= plain.Usage.Fuel {
		t.Errorf("%s, %d of %d", verdict.Report.JSON(), verdict.Usage.Fuel, plain.Usage.Fuel)
	}
	if names := gate.Names(); len(names) != 1 || names[0] != "counter" {
		t.Errorf("%v", names)
	}
	if _, err := gate.Register(t.Context(), []byte(`{"agent":"other","schema":{}}`)); !errors.Is(err, seamgate.ErrSealed) {
		t.Error(err)
	}
	if _, err := gate.Validate(t.Context(), seamgate.Request{Agent: "nobody"}); !errors.Is(err, seamgate.ErrUnknownAgent) {
		t.Error(err)
	}
	if _, err := gate.Surface(t.Context(), "sre-rca", seamgate.Facts{Run: "r", Principal: "p", Mode: "operate"}, nil); err != nil {
		t.Error(err)
	}
	// One byte of code is another: it is not the code of this package.
	for at := len(component) / 10; at < len(component)/2; at += len(component) / 10 {
		other := bytes.Clone(component)
		other[at] ^= 1
		if gate, err := seamgate.New(t.Context(), seamgate.WithBaked(other)); err == nil {
			_ = gate.Close()
			t.Errorf("with another byte at %d, it is taken", at)
		}
	}
	if _, err := seamgate.New(t.Context(), seamgate.WithBaked([]byte("not a component"))); err == nil {
		t.Error("a text is a component")
	}
}
