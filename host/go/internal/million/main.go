// The program million judges a million outputs on all processors, and fails if the memory of the process grows meanwhile. The
// argument is how many; the default is 1,000,000.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	seamgate "seamgate.dev/go"
)

const contract = `{"agent":"counter","schema":{"type":"object","required":["count"],"properties":{"count":{"type":"integer","minimum":1}}},"caps":{"string_bytes":1000000}}`

func main() {
	log.SetFlags(0)
	calls := 1_000_000
	if len(os.Args) > 1 {
		var err error
		if calls, err = strconv.Atoi(os.Args[1]); err != nil {
			log.Fatalf("usage: million [CALLS]: %v", err)
		}
	}
	if err := run(context.Background(), int64(calls)); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, calls int64) error {
	gate, err := seamgate.New(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = gate.Close() }()
	if _, err := gate.Register(ctx, []byte(contract)); err != nil {
		return err
	}
	large := []byte(`{"count":1,"pad":"` + strings.Repeat("x", 300_000) + `"}`)
	one := func(index int64) error {
		request := seamgate.Request{Agent: "counter", Output: fmt.Appendf(nil, `{"count":%d}`, index%3)}
		switch {
		case index%1000 == 0:
			// This output grows the memory, so the instance must be created again.
			request.Output = large
		case index%101 == 0:
			// It is stopped at once, or in the middle.
			short, cancel := context.WithTimeout(ctx, time.Duration(index%7)*10*time.Microsecond)
			defer cancel()
			_, _ = gate.Validate(short, request)
			return nil
		case index%103 == 0:
			// It never was valid.
			_, _ = gate.Validate(ctx, seamgate.Request{Contract: []byte(`{"agent":1}`), Output: request.Output})
			return nil
		}
		verdict, err := gate.Validate(ctx, request)
		if err == nil && verdict.Report.Accepted() != (index%1000 == 0 || index%3 != 0) {
			err = fmt.Errorf("another verdict on %.100s: %.300s", request.Output, verdict.Report.JSON())
		}
		return err
	}
	var next atomic.Int64
	// The first tenth is the beginning: pools and Go's heap find their size.
	begun, most := int64(0), int64(0)
	start := time.Now()
	for _, until := range tenths(calls) {
		var group sync.WaitGroup
		failed := make(chan error, runtime.GOMAXPROCS(0))
		for range runtime.GOMAXPROCS(0) {
			group.Go(func() {
				for {
					index := next.Add(1)
					if index > until {
						next.Add(-1)
						return
					}
					if err := one(index); err != nil {
						failed <- err
						return
					}
				}
			})
		}
		group.Wait()
		select {
		case err := <-failed:
			return err
		default:
		}
		debug.FreeOSMemory()
		now := resident()
		fmt.Printf("%9d calls  %7.1f MiB resident  %3d goroutines  %s\n", until, float64(now)/(1<<20), runtime.NumGoroutine(), time.Since(start).Round(time.Second))
		if begun == 0 {
			begun = now
		}
		most = max(most, now)
	}
	if most > begun+begun/4 {
		return fmt.Errorf("the memory grew from %d to %d bytes", begun, most)
	}
	return nil
}

func tenths(calls int64) []int64 {
	var tenths []int64
	for tenth := int64(1); tenth <= 10; tenth++ {
		tenths = append(tenths, calls*tenth/10)
	}
	return tenths
}

// resident returns the resident memory of this process; Go's own part of it where the system does not say.
func resident() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	var size, pages int64
	if err == nil {
		if _, err = fmt.Sscan(string(text), &size, &pages); err == nil {
			return pages * int64(os.Getpagesize())
		}
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.Sys)
}
