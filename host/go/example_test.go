package seamgate_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	seamgate "seamgate.dev/go"
)

func ExampleGate_Session() {
	ctx := context.Background()
	gate, err := seamgate.New(ctx)
	if err != nil {
		panic(err)
	}
	defer func() { _ = gate.Close() }()
	contract := `{"agent":"orders","schema":{"required":["count"]}}`
	if _, err := gate.Register(ctx, []byte(contract)); err != nil {
		panic(err)
	}
	var response struct{ Body *strings.Reader }
	response.Body = strings.NewReader(`{"count": 2}`)
	stream := func() error {
		session, err := gate.Session(ctx, seamgate.Request{Agent: "orders"})
		if err != nil {
			return err
		}
		// Stop the producer where the output can no longer become right.
		if _, err := session.ReadFrom(response.Body); err != nil && !errors.Is(err, seamgate.ErrDeadEnd) {
			return err
		}
		verdict, err := session.Finish(ctx, seamgate.FinishStop)
		if err != nil {
			return err
		}
		fmt.Println(verdict.Report.Disposition(), string(verdict.Report.Output()))
		return nil
	}
	fmt.Println(stream())
	// Output:
	// accepted {"count":2}
	// <nil>
}

func ExampleFault() {
	ctx := context.Background()
	gate, err := seamgate.New(ctx)
	if err != nil {
		panic(err)
	}
	defer func() { _ = gate.Close() }()
	_, err = gate.Validate(ctx, seamgate.Request{Agent: "nobody"})
	switch {
	case errors.Is(err, seamgate.ErrUnknownAgent):
		fmt.Println("No contract is registered for this agent.")
	case errors.Is(err, context.Canceled):
		fmt.Println("The context ended the call.")
	case errors.Is(err, seamgate.ErrTimeout):
		fmt.Println("The context, or Limits.Timeout, ended the call.")
	case errors.Is(err, seamgate.ErrOutOfFuel):
		fmt.Println("The call passed a limit.")
	}
	// Output: No contract is registered for this agent.
}

func ExampleGate_Run() {
	ctx := context.Background()
	gate, err := seamgate.New(ctx)
	if err != nil {
		panic(err)
	}
	defer func() { _ = gate.Close() }()
	contract := `{"agent":"orders","schema":{"required":["count"]},"retry":{"limit":2}}`
	if _, err := gate.Register(ctx, []byte(contract)); err != nil {
		panic(err)
	}
	answers := []string{`{"cuont": 2}`, `{"count": 2}`}
	outcome, err := gate.Run(ctx, seamgate.Request{Agent: "orders"}, false,
		func(_ context.Context, feedback string, attempt int) (seamgate.Produced, error) {
			// Ask the model here. The feedback says what was wrong with its last output; it is empty at first.
			return seamgate.Produced{Output: []byte(answers[attempt-1])}, nil
		})
	if err != nil {
		panic(err)
	}
	fmt.Println(outcome.Stop, outcome.Attempts, string(outcome.Report.Output()))
	// Output: accepted 2 {"count":2}
}

// The first program of the README is run by `cargo xtask go`. Its other pieces stand here, where they are compiled and run.
func TestPiecesOfTheREADMEAreExamples(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	here := strings.ReplaceAll(string(must(os.ReadFile("example_test.go"))), "\t", "")
	pieces := strings.Split(string(readme), "```go\n")[2:]
	if len(pieces) == 0 {
		t.Error("there are no pieces")
	}
	for _, piece := range pieces {
		piece, _, _ = strings.Cut(piece, "```")
		if !strings.Contains(here, strings.ReplaceAll(piece, "\t", "")) {
			t.Errorf("no example has this:\n%s", piece)
		}
	}
}

func ExampleSession_Items() {
	ctx := context.Background()
	gate, err := seamgate.New(ctx)
	if err != nil {
		panic(err)
	}
	defer func() { _ = gate.Close() }()
	contract := `{"agent":"orders","schema":{"type":"array","items":{"required":["id"]}},"items":{"path":"$[*]"}}`
	if _, err := gate.Register(ctx, []byte(contract)); err != nil {
		panic(err)
	}
	session, err := gate.Session(ctx, seamgate.Request{Agent: "orders"})
	if err != nil {
		panic(err)
	}
	body := strings.NewReader(`[{"id": 1}, {"no": 2}, {"id": 3}]`)
	for item, err := range session.Items(ctx, body) {
		if err != nil {
			panic(err)
		}
		fmt.Println("came:", string(session.Text(item.Span)))
	}
	verdict, err := session.Finish(ctx, seamgate.FinishStop)
	if err != nil {
		panic(err)
	}
	fmt.Println(verdict.Report.Disposition(), string(verdict.Report.Output()))
	// Output:
	// came: {"id": 1}
	// came: {"no": 2}
	// came: {"id": 3}
	// partial [{"id":1},{"id":3}]
}

func ExampleLoop() {
	ctx := context.Background()
	gate, err := seamgate.New(ctx)
	if err != nil {
		panic(err)
	}
	defer func() { _ = gate.Close() }()
	profile := `{"agent":"reader","tools":[
		{"name":"search","effect":"read","permit":"allow"},
		{"name":"drop","effect":"effectful","permit":"deny"}]}`
	if _, err := gate.RegisterProfile(ctx, []byte(profile)); err != nil {
		panic(err)
	}
	loop := gate.Loop("reader", seamgate.Facts{Run: "r1", Principal: "anna"})
	for key, tool := range []string{"search", "drop"} {
		call := seamgate.Call{Key: fmt.Sprint("c", key), Tool: tool}
		decision, err := loop.Permit(ctx, call)
		if err != nil {
			panic(err)
		}
		if !decision.Allows() {
			fmt.Println(tool, decision.Permit)
			continue
		}
		// Run the tool with *decision.Arguments, and nothing else.
		observation, err := loop.Observe(ctx, call, seamgate.ResultText("3 hits"))
		if err != nil {
			panic(err)
		}
		fmt.Println(tool, observation.Text)
	}
	// Output:
	// search 3 hits
	// drop deny
}

func ExampleGate_Validate() {
	ctx := context.Background()
	gate, err := seamgate.New(ctx)
	if err != nil {
		panic(err)
	}
	defer func() { _ = gate.Close() }()
	if _, err := gate.Register(ctx, []byte(`{"agent":"any","schema":true}`)); err != nil {
		panic(err)
	}
	// A context ends a call in the middle.
	short, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	_, err = gate.Validate(short, seamgate.Request{Agent: "any", Output: []byte(`{"a": "` + strings.Repeat(`\"`, 400_000))})
	fmt.Println(errors.Is(err, context.DeadlineExceeded), errors.Is(err, seamgate.ErrTimeout))
	// Any number of goroutines may use a gate.
	var group sync.WaitGroup
	var accepted atomic.Int64
	for range 1000 {
		group.Go(func() {
			verdict, err := gate.Validate(ctx, seamgate.Request{Agent: "any", Output: []byte("[1]")})
			if err == nil && verdict.Report.Accepted() {
				accepted.Add(1)
			}
		})
	}
	group.Wait()
	fmt.Println(accepted.Load())
	// Output:
	// true true
	// 1000
}
