package seamgate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	seamgate "seamgate.dev/go"
)

// root is the repository. A test that reads it is skipped where the package stands alone.
const root = "../.."

var shared = sync.OnceValues(func() (*seamgate.Gate, error) { return seamgate.New(context.Background()) })

// gateFor returns a gate in which nothing is registered.
func gateFor(t testing.TB) *seamgate.Gate {
	t.Helper()
	gate, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return gate.Sibling()
}

func file(t testing.TB, parts ...string) []byte {
	t.Helper()
	if _, err := os.Stat(filepath.Join(root, "wit")); err != nil {
		t.Skip("the repository is not around this package")
	}
	text, err := os.ReadFile(filepath.Join(append([]string{root}, parts...)...))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// example returns a contract of schemas/examples, with its schema inside.
func example(t testing.TB, name string) []byte {
	t.Helper()
	var contract map[string]json.RawMessage
	if err := json.Unmarshal(file(t, "schemas/examples", name+".contract.json"), &contract); err != nil {
		t.Fatal(err)
	}
	contract["schema"] = file(t, "schemas/examples", name+".schema.json")
	whole, err := json.Marshal(contract)
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

const counter = `{"agent":"counter","schema":{"type":"object","required":["count"],"additionalProperties":false,` +
	`"properties":{"count":{"type":"integer","minimum":1}}},"retry":{"limit":2}}`

func registered(t testing.TB, contracts ...string) *seamgate.Gate {
	t.Helper()
	gate := gateFor(t)
	for _, contract := range contracts {
		if _, err := gate.Register(t.Context(), []byte(contract)); err != nil {
			t.Fatal(err)
		}
	}
	return gate
}

func validate(t testing.TB, gate *seamgate.Gate, agent, output string) *seamgate.Verdict {
	t.Helper()
	verdict, err := gate.Validate(t.Context(), seamgate.Request{Agent: agent, Output: []byte(output)})
	if err != nil {
		t.Fatal(err)
	}
	return verdict
}

func TestVerdictsHaveTheirDisposition(t *testing.T) {
	gate := registered(t, counter)
	for output, want := range map[string]seamgate.Disposition{
		`{"count":4}`: seamgate.DispositionAccepted,
		"Here it is:\n```json\n{\"count\":4}\n```": seamgate.DispositionAccepted,
		`{"count":0}`:          seamgate.DispositionRejected,
		`no JSON at all`:       seamgate.DispositionRejected,
		"{\"count\":\"\xff\"}": seamgate.DispositionRejected,
		``:                     seamgate.DispositionRejected,
	} {
		report := validate(t, gate, "counter", output).Report
		if got := report.Disposition(); got != want {
			t.Errorf("%q: %s, not %s: %s", output, got, want, report.JSON())
		}
		document, err := report.Document()
		if err != nil || document.Disposition != report.Disposition() {
			t.Errorf("%q: %+v, %v", output, document, err)
		}
		var value struct{ Count int }
		err = report.Decode(&value)
		if report.Accepted() != (err == nil && value.Count == 4) || !report.Accepted() != errors.Is(err, seamgate.ErrNoOutput) {
			t.Errorf("%q: %v, %v", output, value, err)
		}
		if (report.Feedback() == "") != report.Accepted() || (len(report.Violations()) == 0) != report.Accepted() {
			t.Errorf("%q: %q, %v", output, report.Feedback(), report.Violations())
		}
	}
}

func TestReportsAreReadAgain(t *testing.T) {
	gate := registered(t, counter)
	report := validate(t, gate, "counter", `{"count":4}`).Report
	again, err := seamgate.ReadReport(report.JSON())
	if err != nil || string(again.Output()) != `{"count":4}` {
		t.Fatalf("%v, %v", again, err)
	}
	for _, text := range []string{"", "{}", `{"disposition":"accepted"`, ` {"disposition":"accepted"}`} {
		if _, err := seamgate.ReadReport([]byte(text)); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

func TestFaultsAreErrorsWithCodes(t *testing.T) {
	gate := registered(t, counter, `{"agent":"chooser","schema":{},"allow":[{"path":"$.x","list":"known"}]}`)
	ctx := t.Context()
	of := func(_ any, err error) error { return err }
	huge := bytes.Repeat([]byte("x"), 9<<20)
	for name, one := range map[string]struct {
		err  error
		code seamgate.FaultCode
		says string
	}{
		"unknown agent":   {of(gate.Validate(ctx, seamgate.Request{Agent: "nobody"})), seamgate.ErrUnknownAgent, `"nobody"`},
		"missing list":    {of(gate.Validate(ctx, seamgate.Request{Agent: "chooser"})), seamgate.ErrBadRequest, "known"},
		"unknown finish":  {of(gate.Validate(ctx, seamgate.Request{Agent: "counter", Finish: "bored"})), seamgate.ErrBadRequest, "finish"},
		"large output":    {of(gate.Validate(ctx, seamgate.Request{Agent: "counter", Output: huge})), seamgate.ErrInputTooLarge, "8388608"},
		"no JSON":         {of(gate.Register(ctx, []byte(`{"agent":`))), seamgate.ErrBadContract, "JSON"},
		"ends its place":  {of(gate.Register(ctx, []byte(`{}},"x":{`))), seamgate.ErrBadContract, "JSON"},
		"no agent":        {of(gate.Register(ctx, []byte(`{"schema":{}}`))), seamgate.ErrBadContract, "agent"},
		"twice a member":  {of(gate.Register(ctx, []byte(`{"agent":"a","agent":"b","schema":{}}`))), seamgate.ErrBadContract, "contract: $"},
		"other contract":  {of(gate.Register(ctx, []byte(`{"agent":"counter","schema":{}}`))), seamgate.ErrBadContract, "already"},
		"large contract":  {of(gate.Register(ctx, huge)), seamgate.ErrBadContract, "at most"},
		"invalid profile": {of(gate.RegisterProfile(ctx, []byte(`{"agent":"a"}`))), seamgate.ErrBadProfile, "tools"},
		"no profile":      {of(gate.Permit(ctx, "counter", seamgate.Facts{}, seamgate.Call{})), seamgate.ErrUnknownAgent, "profile"},
		"request bytes":   {of(gate.Call(ctx, []byte("{\"op\":\"\xff\"}"))), seamgate.ErrBadRequest, "byte 7"},
		"nothing merged":  {of(gate.Merge(ctx, nil, seamgate.Request{})), seamgate.ErrBadRequest, "one"},
		"describe nobody": {of(gate.Describe(ctx, "nobody")), seamgate.ErrUnknownAgent, "nobody"},
	} {
		var fault *seamgate.Fault
		if !errors.Is(one.err, one.code) || !errors.As(one.err, &fault) || !strings.Contains(one.err.Error(), one.says) {
			t.Errorf("%s: %v, not %s with %q", name, one.err, one.code, one.says)
		}
		if errors.Is(one.err, seamgate.ErrTrap) {
			t.Errorf("%s: it is every code", name)
		}
	}
	var fault *seamgate.Fault
	if _, err := gate.Contract(ctx, "nobody"); !errors.As(err, &fault) || fmt.Sprint(fault.Detail.Agents) != "[chooser counter]" {
		t.Errorf("%v", err)
	}
}

func TestLimitsEndCalls(t *testing.T) {
	for name, one := range map[string]struct {
		limits seamgate.Limits
		code   seamgate.FaultCode
	}{
		"fuel":     {seamgate.Limits{Fuel: 1000, FuelPerByte: 1}, seamgate.ErrOutOfFuel},
		"output":   {seamgate.Limits{OutputBytes: 10}, seamgate.ErrInputTooLarge},
		"timeout":  {seamgate.Limits{Timeout: time.Nanosecond, Fuel: 1 << 50}, seamgate.ErrTimeout},
		"compiler": {seamgate.Limits{ContractFuel: 1000, ContractFuelPerByte: 1}, seamgate.ErrOutOfFuel},
	} {
		gate, err := seamgate.New(t.Context(), seamgate.WithLimits(one.limits))
		if err != nil {
			t.Fatal(err)
		}
		_, err = gate.Register(t.Context(), []byte(counter))
		if err == nil {
			_, err = gate.Validate(t.Context(), seamgate.Request{Agent: "counter", Output: bytes.Repeat([]byte(`{"count":4}`), 20_000)})
		}
		if !errors.Is(err, one.code) {
			t.Errorf("%s: %v", name, err)
		}
		_ = gate.Close()
	}
	if _, err := seamgate.New(t.Context(), seamgate.WithLimits(seamgate.Limits{Fuel: -1})); err == nil {
		t.Error("a limit is negative")
	}
}

// slow returns a request that takes about a second.
func slow() seamgate.Request {
	var choices, items []string
	for index := range 250 {
		choices = append(choices, fmt.Sprintf(`{"type":"object","properties":{"a":{"minimum":%d}}}`, 1_000_000+index))
	}
	// Not true: then nothing would have to be tried.
	choices = append(choices, `{"properties":{"a":{"maximum":1000000}}}`)
	for index := range 4_000 {
		items = append(items, fmt.Sprintf(`{"a":%d}`, index))
	}
	return seamgate.Request{
		Contract: []byte(`{"agent":"slow","schema":{"items":{"anyOf":[` + strings.Join(choices, ",") + `]}},"caps":{"array_items":100000}}`),
		Output:   []byte("[" + strings.Join(items, ",") + "]"),
	}
}

func TestContextEndsACallInTheMiddle(t *testing.T) {
	gate, err := seamgate.New(t.Context(), seamgate.WithLimits(seamgate.Limits{Fuel: 1 << 50, Timeout: time.Hour}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = gate.Close() }()
	request := slow()
	start := time.Now()
	if _, err := gate.Validate(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	whole := time.Since(start)
	for _, one := range []struct {
		cause error
		with  func(context.Context) (context.Context, context.CancelFunc)
	}{
		{context.DeadlineExceeded, func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, whole/4)
		}},
		{context.Canceled, func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(whole/4, cancel)
			return ctx, cancel
		}},
		{context.Canceled, func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			return ctx, cancel
		}},
	} {
		ctx, cancel := one.with(t.Context())
		start := time.Now()
		_, err := gate.Validate(ctx, request)
		took := time.Since(start)
		cancel()
		if !errors.Is(err, seamgate.ErrTimeout) || !errors.Is(err, one.cause) {
			t.Errorf("%v, not %v", err, one.cause)
		}
		if took > whole*3/4 {
			t.Errorf("it took %v of %v", took, whole)
		}
		// The gate goes on.
		if _, err := gate.Validate(t.Context(), seamgate.Request{Contract: []byte(counter), Output: []byte(`{"count":1}`)}); err != nil {
			t.Error(err)
		}
	}
}

func TestCallsWaitForAnInstance(t *testing.T) {
	gate, err := seamgate.New(t.Context(), seamgate.WithInstances(1), seamgate.WithLimits(seamgate.Limits{Fuel: 1 << 50, Timeout: time.Hour}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = gate.Close() }()
	done := make(chan error)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, err := gate.Validate(ctx, slow())
		done <- err
	}()
	time.Sleep(50 * time.Millisecond)
	short, cancelShort := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancelShort()
	_, err = gate.Validate(short, seamgate.Request{Contract: []byte(counter)})
	if !errors.Is(err, seamgate.ErrBusy) || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestManyGoroutinesGetTheSameVerdicts(t *testing.T) {
	gate := registered(t, counter, strings.Replace(counter, "counter", "other", 1))
	requests := make([]seamgate.Request, 40)
	want := make([]string, len(requests))
	fuel := make([]int64, len(requests))
	for index := range requests {
		agent := []string{"counter", "other"}[index%2]
		output := fmt.Sprintf(`{"count":%d,%s"pad":%q}`, index%3, strings.Repeat(" ", index), strings.Repeat("é", index*40))
		requests[index] = seamgate.Request{Agent: agent, Output: []byte(output)}
		verdict := validate(t, gate, agent, output)
		want[index], fuel[index] = string(verdict.Report.JSON()), verdict.Usage.Fuel
	}
	var group sync.WaitGroup
	for worker := range 1000 {
		group.Go(func() {
			for round := range 5 {
				index := (worker*7 + round*13) % len(requests)
				verdict, err := gate.Validate(t.Context(), requests[index])
				if err != nil {
					t.Error(err)
				} else if string(verdict.Report.JSON()) != want[index] || verdict.Usage.Fuel != fuel[index] {
					t.Errorf("another verdict on %s", requests[index].Output)
				}
			}
		})
	}
	group.Wait()
}

func TestFuelIsTheSameHoweverAContractCame(t *testing.T) {
	gate := registered(t, counter)
	inline, err := gate.Validate(t.Context(), seamgate.Request{Contract: []byte(counter), Output: []byte(`{"count":4}`)})
	if err != nil {
		t.Fatal(err)
	}
	first := validate(t, gate, "counter", `{"count":4}`)
	for range 3 {
		again := validate(t, gate, "counter", `{"count":4}`)
		if again.Usage.Fuel != first.Usage.Fuel || again.Usage.Memory != first.Usage.Memory {
			t.Errorf("%+v, then %+v", first.Usage, again.Usage)
		}
		if !bytes.Equal(again.Report.JSON(), inline.Report.JSON()) {
			t.Errorf("%s", again.Report.JSON())
		}
	}
	instance := gate.Instance()
	defer func() { _ = instance.Close() }()
	var fuel []int64
	for range 3 {
		verdict, err := instance.Validate(t.Context(), seamgate.Request{Agent: "counter", Output: []byte(`{"count":4}`)})
		if err != nil || !bytes.Equal(verdict.Report.JSON(), inline.Report.JSON()) {
			t.Fatal(verdict, err)
		}
		fuel = append(fuel, verdict.Usage.Fuel)
	}
	if fuel[0] != first.Usage.Fuel || fuel[1] >= fuel[0] || fuel[1] != fuel[2] {
		t.Errorf("%v beside %d", fuel, first.Usage.Fuel)
	}
}

func TestInstanceGoesOnAfterAFault(t *testing.T) {
	gate := registered(t, counter)
	instance := gate.Instance()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := instance.Validate(ctx, seamgate.Request{Agent: "counter"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := instance.Validate(t.Context(), seamgate.Request{Agent: "counter"}); err != nil {
		t.Error(err)
	}
	_ = instance.Close()
	if _, err := instance.Call(t.Context(), []byte("{}")); err == nil {
		t.Error("a closed instance answers")
	}
}

func TestGateSaysWhatItHas(t *testing.T) {
	gate := registered(t, counter)
	ctx := t.Context()
	info, err := gate.Contract(ctx, "counter")
	if err != nil || info.RetryLimit != 2 || !strings.HasPrefix(info.Contract, "sha256:") {
		t.Errorf("%+v, %v", info, err)
	}
	text, err := gate.Describe(ctx, "counter")
	if err != nil || !strings.Contains(text, "count") {
		t.Errorf("%q, %v", text, err)
	}
	warnings, err := gate.Lint(ctx, []byte(`{"agent":"a","schema":{"type":"object","propertys":{}}}`))
	if err != nil || len(warnings) == 0 {
		t.Errorf("%v, %v", warnings, err)
	}
	if !gate.Has("counter") || gate.Has("nobody") || len(gate.Names()) != 1 || !strings.HasPrefix(gate.Module(), "sha256:") {
		t.Errorf("%v", gate.Names())
	}
	answer, err := gate.Call(ctx, []byte(`{"op":"names","id":7}`))
	if err != nil || string(answer.JSON) != `{"id":7,"result":["counter"]}` {
		t.Errorf("%s, %v", answer.JSON, err)
	}
}

func TestSessionGivesTheVerdictOfTheWholeText(t *testing.T) {
	gate := gateFor(t)
	if _, err := gate.Register(t.Context(), example(t, "triage")); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	folder := filepath.Join(root, "schemas/examples/outputs")
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	outputs := [][]byte{nil, []byte("é\xe2\x82"), []byte("\xff\xff{}"), []byte("```json\n{\"a\":\"😀\"}")}
	for _, entry := range entries {
		outputs = append(outputs, file(t, "schemas/examples/outputs", entry.Name()))
	}
	for _, output := range outputs {
		whole, err := gate.Validate(t.Context(), seamgate.Request{Agent: "triage", Output: output, Finish: "length"})
		if err != nil {
			t.Fatal(err)
		}
		session, err := gate.Session(t.Context(), seamgate.Request{Agent: "triage"})
		if err != nil {
			t.Fatal(err)
		}
		for rest := output; len(rest) > 0; {
			length := min(1+random.IntN(200), len(rest))
			if _, err := session.Push(t.Context(), rest[:length]); err != nil {
				t.Fatal(err)
			}
			rest = rest[length:]
		}
		verdict, err := session.Finish(t.Context(), "length")
		if err != nil || !bytes.Equal(verdict.Report.JSON(), whole.Report.JSON()) {
			t.Errorf("%q: %v", output, err)
		}
		if _, err := session.Push(t.Context(), []byte("x")); !errors.Is(err, seamgate.ErrSessionOver) {
			t.Error(err)
		}
	}
}

func TestSessionStopsAReaderAtADeadEnd(t *testing.T) {
	gate := registered(t, `{"agent":"list","schema":{"type":"array"},"extract":{"markers":[],"raw_json":true},"caps":{"array_items":3}}`)
	session, err := gate.Session(t.Context(), seamgate.Request{Agent: "list"})
	if err != nil {
		t.Fatal(err)
	}
	read, err := session.ReadFrom(&slowReader{text: []byte("[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]")})
	progress := session.Progress()
	if !errors.Is(err, seamgate.ErrDeadEnd) || read > 20 || progress.DeadEnd == nil || progress.DeadEnd.Keyword != "caps.array_items" {
		t.Errorf("%d, %v, %+v", read, err, progress)
	}
	verdict, err := session.Finish(t.Context(), "")
	if err != nil || verdict.Report.Accepted() {
		t.Errorf("%v, %v", verdict, err)
	}
}

func TestSessionYieldsItemsWhenTheyAreComplete(t *testing.T) {
	gate := registered(t, `{"agent":"list","schema":{"type":"array"},"items":{"path":"$[*]","schema":true},"extract":{"markers":[],"raw_json":true}}`)
	for _, one := range []struct {
		output string
		items  []string
		err    error
	}{
		{`[{"id":1},{"id":"é"},3]`, []string{`{"id":1}`, `{"id":"é"}`, `3`}, nil},
		{`[]`, nil, nil},
		{`nothing`, nil, nil},
		{`[1,{"id":2`, []string{`1`}, nil},
		{"[\"\xff\",\"b\"]", []string{"\"\ufffd\"", `"b"`}, nil},
		{"[1,2]", []string{"1", "2"}, io.ErrUnexpectedEOF},
	} {
		session, err := gate.Session(t.Context(), seamgate.Request{Agent: "list"})
		if err != nil {
			t.Fatal(err)
		}
		var from io.Reader = iotest.OneByteReader(strings.NewReader(one.output))
		if one.err != nil {
			from = io.MultiReader(from, iotest.ErrReader(one.err))
		}
		var items []string
		for item, err := range session.Items(t.Context(), from) {
			if err != nil {
				if !errors.Is(err, one.err) {
					t.Errorf("%s: %v", one.output, err)
				}
				break
			}
			items = append(items, string(session.Text(item.Span)))
		}
		if !slices.Equal(items, one.items) {
			t.Errorf("%s: %q", one.output, items)
		}
		if session.Text(seamgate.Span{0, len(one.output) + 10}) != nil || session.Text(seamgate.Span{2, 1}) != nil {
			t.Errorf("%s: a piece that has not come has a text", one.output)
		}
	}
}

func TestLoopOverItemsMayEndEarly(t *testing.T) {
	gate := registered(t, `{"agent":"list","schema":{"type":"array"},"items":{"path":"$[*]","schema":true}}`)
	session, err := gate.Session(t.Context(), seamgate.Request{Agent: "list"})
	if err != nil {
		t.Fatal(err)
	}
	from := strings.NewReader("[1,2,3,4]")
	for item, err := range session.Items(t.Context(), iotest.OneByteReader(from)) {
		if err != nil || item.Index != 0 {
			t.Errorf("%+v, %v", item, err)
		}
		break
	}
	if from.Len() == 0 {
		t.Error("the reader was read to its end")
	}
}

// slowReader gives two bytes at a time.
type slowReader struct{ text []byte }

func (r *slowReader) Read(to []byte) (int, error) {
	if len(r.text) == 0 {
		return 0, errors.New("read to the end")
	}
	count := copy(to[:min(2, len(to))], r.text)
	r.text = r.text[count:]
	return count, nil
}

func TestRunAsksAgain(t *testing.T) {
	gate := registered(t, counter)
	for name, one := range map[string]struct {
		outputs  []string
		finish   seamgate.Finish
		stop     seamgate.Stop
		attempts int
	}{
		"accepted at once": {[]string{`{"count":1}`}, "", seamgate.StopAccepted, 1},
		"accepted then":    {[]string{`{"count":0}`, `{"count":1}`}, "", seamgate.StopAccepted, 2},
		"repeated":         {[]string{`{"count":0}`, `{"count":0}`, `{"count":1}`}, "", seamgate.StopRepeated, 2},
		"limit":            {[]string{`{"count":0}`, `{"count":"a"}`, `{}`, `{"count":1}`}, "", seamgate.StopLimit, 3},
		"refused":          {[]string{"I cannot.", `{"count":1}`}, "refusal", seamgate.StopRefused, 1},
		"cut off":          {[]string{`{"count":`, `{"count":1}`}, "length", seamgate.StopNotRetryable, 1},
	} {
		var feedbacks []string
		outcome, err := gate.Run(t.Context(), seamgate.Request{Agent: "counter"}, false,
			func(_ context.Context, feedback string, attempt int) (seamgate.Produced, error) {
				feedbacks = append(feedbacks, feedback)
				return seamgate.Produced{Output: []byte(one.outputs[attempt-1]), Finish: one.finish}, nil
			})
		if err != nil || outcome.Stop != one.stop || outcome.Attempts != one.attempts || outcome.Usable() != (one.stop == seamgate.StopAccepted) {
			t.Errorf("%s: %+v, %v", name, outcome, err)
		}
		for attempt, feedback := range feedbacks {
			if (attempt == 0) != (feedback == "") {
				t.Errorf("%s: feedback %q in attempt %d", name, feedback, attempt+1)
			}
		}
	}
	boom := errors.New("boom")
	_, err := gate.Run(t.Context(), seamgate.Request{Agent: "counter"}, false,
		func(context.Context, string, int) (seamgate.Produced, error) { return seamgate.Produced{}, boom })
	if err != boom {
		t.Error(err)
	}
}

func TestRunMergesItems(t *testing.T) {
	gate := registered(t, `{"agent":"list","schema":{"type":"array","items":{"type":"object","required":["id","n"],`+
		`"properties":{"n":{"type":"integer"}}}},"items":{"path":"$[*]"},"retry":{"limit":1}}`)
	outputs := []string{`[{"id":1,"n":1},{"id":2,"n":"x"}]`, `[{"id":2,"n":2}]`}
	outcome, err := gate.Run(t.Context(), seamgate.Request{Agent: "list"}, false,
		func(_ context.Context, _ string, attempt int) (seamgate.Produced, error) {
			return seamgate.Produced{Output: []byte(outputs[attempt-1])}, nil
		})
	if err != nil || string(outcome.Report.Output()) != `[{"id":1,"n":1},{"id":2,"n":2}]` {
		t.Errorf("%+v, %v", outcome, err)
	}
	for _, allow := range []bool{false, true} {
		outcome, err := gate.Run(t.Context(), seamgate.Request{Agent: "list"}, allow,
			func(context.Context, string, int) (seamgate.Produced, error) {
				return seamgate.Produced{Output: []byte(outputs[0])}, nil
			})
		if err != nil || outcome.Usable() != allow || (outcome.Stop == seamgate.StopPartial) != allow {
			t.Errorf("%+v, %v", outcome, err)
		}
	}
}

func TestCloseWaitsForCalls(t *testing.T) {
	gate, err := seamgate.New(t.Context(), seamgate.WithInstances(4))
	if err != nil {
		t.Fatal(err)
	}
	instance := gate.Instance()
	var group sync.WaitGroup
	for worker := range 20 {
		group.Go(func() {
			for {
				request := seamgate.Request{Contract: []byte(counter), Output: []byte(`{"count":1}`)}
				_, err := gate.Validate(t.Context(), request)
				if worker%2 == 0 {
					_, err = instance.Validate(t.Context(), request)
				}
				if errors.Is(err, seamgate.ErrClosed) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	time.Sleep(20 * time.Millisecond)
	_ = gate.Close()
	_ = gate.Close()
	group.Wait()
	if _, err := gate.Register(t.Context(), []byte(counter)); !errors.Is(err, seamgate.ErrClosed) {
		t.Error(err)
	}
	_ = instance.Close()
}

func TestInterpreterGivesTheSameVerdictsAndEnds(t *testing.T) {
	gate, err := seamgate.New(t.Context(), seamgate.WithInterpreter(), seamgate.WithLimits(seamgate.Limits{Fuel: 1 << 50, Timeout: time.Hour}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = gate.Close() }()
	compiled := registered(t, counter)
	if _, err := gate.Register(t.Context(), []byte(counter)); err != nil {
		t.Fatal(err)
	}
	for _, output := range []string{`{"count":4}`, `{"count":0}`, "\xff"} {
		want, got := validate(t, compiled, "counter", output), validate(t, gate, "counter", output)
		if !bytes.Equal(got.Report.JSON(), want.Report.JSON()) || got.Usage.Fuel != want.Usage.Fuel {
			t.Errorf("%s and %d, not %s and %d", got.Report.JSON(), got.Usage.Fuel, want.Report.JSON(), want.Usage.Fuel)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := gate.Validate(ctx, slow()); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
}
