// Package benchmarks measures calls beside other validators: `cargo xtask go bench` runs it, and so does
// `go test -bench .` in this folder.
package benchmarks

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	kaptinlin "github.com/kaptinlin/jsonschema"
	santhosh "github.com/santhosh-tekuri/jsonschema/v6"

	seamgate "seamgate.dev/go"
)

// schema describes lists of tickets.
const schema = `{"type":"object","required":["tickets"],"additionalProperties":false,"properties":{"tickets":{"type":"array",
"items":{"type":"object","required":["id","title","severity","tags"],"additionalProperties":false,"properties":{
"id":{"type":"string","pattern":"^[A-Z]+-[0-9]+$"},"title":{"type":"string","minLength":1,"maxLength":200},
"severity":{"enum":["low","medium","high"]},"score":{"type":"number","minimum":0,"maximum":1},
"tags":{"type":"array","items":{"type":"string"},"maxItems":8}}}}}}`

const contract = `{"agent":"tickets","schema":` + schema + `}`

// document returns a valid document of about this many bytes.
func document(size int) []byte {
	var text strings.Builder
	text.WriteString(`{"tickets":[`)
	for index := 0; text.Len() < size-60; index++ {
		if index > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, `{"id":"WEB-%d","title":"The basket is empty after a reload, %d","severity":"%s","score":0.%d,"tags":["shop","reload"]}`,
			index, index*7919, []string{"low", "medium", "high"}[index%3], index%10)
	}
	text.WriteString("]}")
	return []byte(text.String())
}

var sizes = []struct {
	name string
	text []byte
}{{"500B", document(500)}, {"5KB", document(5_000)}, {"500KB", document(500_000)}}

var gate = sync.OnceValue(func() *seamgate.Gate {
	gate, err := seamgate.New(context.Background())
	if err != nil {
		panic(err)
	}
	if _, err := gate.Register(context.Background(), []byte(contract)); err != nil {
		panic(err)
	}
	return gate
})

// each runs a benchmark for each size.
func each(b *testing.B, run func(b *testing.B, text []byte)) {
	for _, size := range sizes {
		b.Run(size.name, func(b *testing.B) {
			b.ReportAllocs()
			run(b, size.text)
		})
	}
}

func read(b *testing.B, verdict *seamgate.Verdict, err error) {
	if err != nil || !verdict.Report.Accepted() {
		b.Fatal(verdict, err)
	}
}

func BenchmarkSeamgateFresh(b *testing.B) {
	each(b, func(b *testing.B, text []byte) {
		gate := gate()
		for b.Loop() {
			verdict, err := gate.Validate(context.Background(), seamgate.Request{Agent: "tickets", Output: text})
			read(b, verdict, err)
		}
	})
}

func BenchmarkSeamgateWarm(b *testing.B) {
	each(b, func(b *testing.B, text []byte) {
		instance := gate().Instance()
		defer func() { _ = instance.Close() }()
		for b.Loop() {
			verdict, err := instance.Validate(context.Background(), seamgate.Request{Agent: "tickets", Output: text})
			read(b, verdict, err)
		}
	})
}

type tickets struct {
	Tickets []struct {
		ID, Title, Severity string
		Score               float64
		Tags                []string
	}
}

func BenchmarkSeamgateWarmDecoded(b *testing.B) {
	each(b, func(b *testing.B, text []byte) {
		instance := gate().Instance()
		defer func() { _ = instance.Close() }()
		for b.Loop() {
			verdict, err := instance.Validate(context.Background(), seamgate.Request{Agent: "tickets", Output: text})
			read(b, verdict, err)
			var value tickets
			if err := verdict.Report.Decode(&value); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkSeamgateFreshTwoThreads(b *testing.B) {
	each(b, func(b *testing.B, text []byte) {
		gate := gate()
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				verdict, err := gate.Validate(context.Background(), seamgate.Request{Agent: "tickets", Output: text})
				read(b, verdict, err)
			}
		})
	})
}

// BenchmarkSeamgateThousandGoroutines has a thousand calls at once. Its figure is for all of them.
func BenchmarkSeamgateThousandGoroutines(b *testing.B) {
	gate := gate()
	for b.Loop() {
		var group sync.WaitGroup
		for range 1000 {
			group.Go(func() {
				verdict, err := gate.Validate(context.Background(), seamgate.Request{Agent: "tickets", Output: sizes[0].text})
				if err != nil || !verdict.Report.Accepted() {
					b.Error(verdict, err)
				}
			})
		}
		group.Wait()
	}
}

func BenchmarkJSONAlone(b *testing.B) {
	each(b, func(b *testing.B, text []byte) {
		for b.Loop() {
			var value any
			if err := json.Unmarshal(text, &value); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkSanthosh(b *testing.B) {
	compiler := santhosh.NewCompiler()
	loaded, err := santhosh.UnmarshalJSON(strings.NewReader(schema))
	if err != nil {
		b.Fatal(err)
	}
	if err := compiler.AddResource("tickets.json", loaded); err != nil {
		b.Fatal(err)
	}
	compiled := compiler.MustCompile("tickets.json")
	each(b, func(b *testing.B, text []byte) {
		for b.Loop() {
			// As its documentation says, with numbers as they are written.
			value, err := santhosh.UnmarshalJSON(bytes.NewReader(text))
			if err != nil {
				b.Fatal(err)
			}
			if err := compiled.Validate(value); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkKaptinlin(b *testing.B) {
	compiled, err := kaptinlin.NewCompiler().Compile([]byte(schema))
	if err != nil {
		b.Fatal(err)
	}
	each(b, func(b *testing.B, text []byte) {
		for b.Loop() {
			if result := compiled.ValidateJSON(text); !result.IsValid() {
				b.Fatal(result.Errors)
			}
		}
	})
}

func first(b *testing.B, options ...seamgate.Option) {
	for b.Loop() {
		gate, err := seamgate.New(context.Background(), options...)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := gate.Register(context.Background(), []byte(contract)); err != nil {
			b.Fatal(err)
		}
		verdict, err := gate.Validate(context.Background(), seamgate.Request{Agent: "tickets", Output: sizes[0].text})
		read(b, verdict, err)
		_ = gate.Close()
	}
}

func BenchmarkFirstVerdictCached(b *testing.B) {
	folder := seamgate.WithCacheDir(b.TempDir())
	gate, err := seamgate.New(context.Background(), folder)
	if err != nil {
		b.Fatal(err)
	}
	_ = gate.Close()
	first(b, folder)
}

func BenchmarkFirstVerdictCompiled(b *testing.B) { first(b, seamgate.WithoutCache()) }

func BenchmarkFirstVerdictInterpreted(b *testing.B) { first(b, seamgate.WithInterpreter()) }

// BenchmarkMemory reports what the process has: with a gate alone, and after two threads have judged 500 KB.
func BenchmarkMemory(b *testing.B) {
	gate := gate()
	for b.Loop() {
		b.ReportMetric(resident(b), "MiB-before")
		var group sync.WaitGroup
		for range 2 {
			group.Go(func() {
				for range 10 {
					verdict, err := gate.Validate(context.Background(), seamgate.Request{Agent: "tickets", Output: sizes[2].text})
					read(b, verdict, err)
				}
			})
		}
		group.Wait()
		b.ReportMetric(resident(b), "MiB-after")
	}
}

// resident returns the resident memory of this process in MiB; zero where the system does not say.
func resident(b *testing.B) float64 {
	b.Helper()
	text, err := os.ReadFile(filepath.Join("/proc/self/statm"))
	if err != nil {
		return 0
	}
	var size, resident float64
	_, _ = fmt.Sscan(string(text), &size, &resident)
	return resident * float64(os.Getpagesize()) / (1 << 20)
}
