package seamgate_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	seamgate "seamgate.dev/go"
)

var interpreted = flag.Bool("interpreted", false, "run all attacks in the interpreter, too: that takes minutes")

// An attack is a file of tests/hostile.
type attack struct {
	name     string
	Must     string
	Contract json.RawMessage
	Output   json.RawMessage
	Request  json.RawMessage
}

func attacks(t *testing.T) []attack {
	t.Helper()
	paths, _ := filepath.Glob(filepath.Join(root, "tests/hostile/*/*.json"))
	if len(paths) == 0 {
		t.Skip("the repository is not around this package")
	}
	var attacks []attack
	for _, path := range paths {
		one := attack{name: filepath.Base(filepath.Dir(path)) + "/" + strings.TrimSuffix(filepath.Base(path), ".json")}
		if err := json.Unmarshal(must(os.ReadFile(path)), &one); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		attacks = append(attacks, one)
	}
	return attacks
}

// written writes out a text: a string is itself, a list its pieces, and `{"repeat": …, "times": N}` a text N times.
func written(text json.RawMessage) []byte {
	var plain string
	if json.Unmarshal(text, &plain) == nil {
		return []byte(plain)
	}
	var pieces []json.RawMessage
	if json.Unmarshal(text, &pieces) == nil {
		var whole []byte
		for _, piece := range pieces {
			whole = append(whole, written(piece)...)
		}
		return whole
	}
	var repeated struct {
		Repeat json.RawMessage
		Times  int
	}
	if err := json.Unmarshal(text, &repeated); err != nil || repeated.Repeat == nil {
		panic(fmt.Sprintf("no text: %s", text))
	}
	piece := written(repeated.Repeat)
	if !bytes.Contains(piece, []byte("{n")) {
		return bytes.Repeat(piece, repeated.Times)
	}
	var whole []byte
	for n := range repeated.Times {
		whole = append(whole, strings.NewReplacer("{n}", fmt.Sprint(n), "{n+1}", fmt.Sprint(n+1)).Replace(string(piece))...)
	}
	return whole
}

// contractOf returns the contract: as it is, or written out.
func (a *attack) contractOf() []byte {
	var members map[string]json.RawMessage
	if json.Unmarshal(a.Contract, &members) == nil && members["repeat"] == nil {
		return a.Contract
	}
	return written(a.Contract)
}

// ask returns the outcome in the words of the file, and the text.
func (a *attack) ask(t *testing.T, gate *seamgate.Gate) (string, string) {
	t.Helper()
	var text []byte
	if a.Request != nil {
		answer, err := gate.Call(t.Context(), written(a.Request))
		if err != nil {
			return ofFault(t, err), err.Error()
		}
		text = answer.JSON
	} else {
		verdict, err := gate.Validate(t.Context(), seamgate.Request{Contract: a.contractOf(), Output: written(a.Output)})
		if err != nil {
			return ofFault(t, err), err.Error()
		}
		text = fmt.Appendf(nil, `{"report":%s}`, verdict.Report.JSON())
	}
	var answer struct {
		Report *struct {
			Disposition string
			Error       *struct{ Violations []struct{ Keyword string } }
		}
		Fault *seamgate.Fault
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Fatalf("%v: %.200s", err, text)
	}
	switch {
	case answer.Fault != nil:
		return ofFault(t, answer.Fault), string(text)
	case answer.Report == nil:
		return "result", string(text)
	case answer.Report.Error != nil:
		return answer.Report.Disposition + ": " + answer.Report.Error.Violations[0].Keyword, string(text)
	default:
		return answer.Report.Disposition, string(text)
	}
}

func ofFault(t *testing.T, err error) string {
	t.Helper()
	var fault *seamgate.Fault
	if !errors.As(err, &fault) {
		t.Fatal(err)
	}
	if len(fault.Detail.Violations) > 0 {
		return string(fault.Code) + ": " + fault.Detail.Violations[0].Path
	}
	return string(fault.Code)
}

// elsewhere are attacks that have another outcome here, because an output is passed as JSON text: the memory holds it twice.
var elsewhere = map[string]string{"size/output-over-its-cap": "out_of_memory"}

func (a *attack) isAsItMustBe(outcome string) bool {
	must := a.Must
	if here, ok := elsewhere[a.name]; ok {
		must = here
	}
	if must == "stack_overflow" && a.Request == nil {
		// wazero's stack is a hundred times as large: there is a verdict instead.
		return outcome == must || !strings.Contains(outcome, ": ")
	}
	code, _, _ := strings.Cut(outcome, ": ")
	return outcome == must || !strings.Contains(must, ": ") && code == must
}

const ordinary = "Here it is:\n```json\n{\"list\": [{\"id\": \"a\"}, {\"id\": 1}, {\"id\": \"c\"}]}\n```"

func TestAttacksHaveTheirOutcome(t *testing.T) {
	attack := func(t *testing.T, gate *seamgate.Gate, isTwice bool) {
		all := attacks(t)
		if _, err := gate.Register(t.Context(), file(t, "tests/hostile/contract.json")); err != nil {
			t.Fatal(err)
		}
		before := validate(t, gate, "lister", ordinary)
		// All processors attack, each with its own part.
		workers := runtime.GOMAXPROCS(0)
		var group sync.WaitGroup
		for worker := range workers {
			group.Go(func() {
				for index := worker; index < len(all); index += workers {
					one := &all[index]
					outcome, text := one.ask(t, gate)
					if !one.isAsItMustBe(outcome) {
						t.Errorf("%s must be %s, is %s: %.300s", one.name, one.Must, outcome, text)
					}
					if isTwice {
						if _, again := one.ask(t, gate); again != text {
							t.Errorf("%s: the second time, it is another answer", one.name)
						}
					}
					after := validate(t, gate, "lister", ordinary)
					if !bytes.Equal(after.Report.JSON(), before.Report.JSON()) || after.Usage.Fuel != before.Usage.Fuel {
						t.Errorf("after %s, the next verdict is another one", one.name)
					}
				}
			})
		}
		group.Wait()
	}
	t.Run("compiled", func(t *testing.T) { attack(t, gateFor(t), true) })
	t.Run("interpreted", func(t *testing.T) {
		if !*interpreted {
			t.Skip("without -interpreted")
		}
		gate, err := seamgate.New(t.Context(), seamgate.WithInterpreter(), seamgate.WithLimits(seamgate.Limits{Timeout: time.Hour}))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = gate.Close() }()
		attack(t, gate, false)
	})
}
