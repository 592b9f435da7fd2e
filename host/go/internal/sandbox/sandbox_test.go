package sandbox

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"
)

func engine(t *testing.T, config Config) *Engine {
	t.Helper()
	wasm, err := os.ReadFile("../../seamgate.wasm")
	if err != nil {
		t.Skip("run `cargo xtask go`, which puts the module in its place")
	}
	config.Module, config.Instances = wasm, 2
	config.CacheDir = cacheDir(t)
	e, err := New(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// cacheDir returns one folder for all tests, so that they compile once.
func cacheDir(t *testing.T) string {
	t.Helper()
	caches, err := os.UserCacheDir()
	if err != nil {
		return t.TempDir()
	}
	return caches + "/seamgate/go"
}

func ask(t *testing.T, i *Instance, request string) []byte {
	t.Helper()
	answer, _, err := i.Call(t.Context(), time.Now().Add(time.Minute), 1<<40, []byte(request))
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

const contract = `{"agent":"a","schema":{"type":"array","items":{"type":"string","pattern":"^[a-z]+$"}}}`

// outputs are some that leave much, and some that leave little, in the memory.
func outputs(random *rand.Rand) []string {
	outputs := []string{`[]`, `["a"]`, `no`, `["A"`}
	for range 20 {
		list := "["
		for index := range random.IntN(3000) {
			if index > 0 {
				list += ","
			}
			list += fmt.Sprintf(`\"%x\"`, random.Uint64())
		}
		outputs = append(outputs, list+"]")
	}
	return outputs
}

// whole returns all of a memory.
func whole(t *testing.T, i *Instance) []byte {
	t.Helper()
	memory, ok := i.linear.Read(0, i.linear.Size())
	if !ok {
		t.Fatal("no memory")
	}
	return bytes.Clone(memory)
}

func TestMemoryIsAsNewAfterEachReset(t *testing.T) {
	for name, copied := range map[string]bool{"mapped": false, "copied": true} {
		t.Run(name, func(t *testing.T) {
			e := engine(t, Config{})
			if copied {
				e.images.release()
				wasm, _ := os.ReadFile("../../seamgate.wasm")
				module, err := split(wasm)
				if err != nil {
					t.Fatal(err)
				}
				e.images = &copiedImages{image: module.image}
			}
			fresh, err := e.Open(e.Fresh())
			if err != nil {
				t.Fatal(err)
			}
			blank := whole(t, fresh)
			ask(t, fresh, `{"op":"register","contract":`+contract+`}`)
			with, err := fresh.Snapshot()
			if err != nil {
				t.Fatal(err)
			}
			new, err := e.Open(with)
			if err != nil {
				t.Fatal(err)
			}
			want := map[*Snapshot][]byte{e.Fresh(): blank, with: whole(t, new)}
			answers := map[string][]byte{}
			random := rand.New(rand.NewPCG(3, 4))
			used, err := e.Open(e.Fresh())
			if err != nil {
				t.Fatal(err)
			}
			for round := range 3 {
				for _, output := range outputs(rand.New(rand.NewPCG(5, 6))) {
					for snapshot, memory := range want {
						if err := used.Reset(snapshot); err != nil {
							t.Fatal(err)
						}
						if !bytes.Equal(whole(t, used), memory) {
							t.Fatal("the memory is not as new")
						}
						answer := ask(t, used, `{"contract":`+contract+`,"output":"`+output+`"}`)
						if known, ok := answers[output]; ok && !bytes.Equal(known, answer) {
							t.Fatalf("%s, then %s", known, answer)
						}
						answers[output] = answer
						if random.IntN(4) == 0 {
							// A call that is stopped leaves anything.
							_, _, err := used.Call(t.Context(), time.Now().Add(time.Minute), int64(random.IntN(100_000)), []byte(`{"contract":`+contract+`,"output":"`+output+`"}`))
							_ = err
						}
					}
				}
				_ = round
			}
		})
	}
}

func TestMappedMemoriesAreUsedHere(t *testing.T) {
	e := engine(t, Config{})
	if _, ok := e.images.(*copiedImages); ok {
		t.Log("this system lacks what mapped memories need")
	}
}

func TestBinariesThatAreCutOffAreErrors(t *testing.T) {
	wasm, err := os.ReadFile("../../seamgate.wasm")
	if err != nil {
		t.Skip("run `cargo xtask go`, which puts the module in its place")
	}
	whole, err := split(wasm)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		if _, err := split(wasm[:random.IntN(len(wasm)-50)]); err == nil {
			t.Error("a module that is cut off is split")
		}
		component := append(bytes.Clone(componentHeader), sectionModule)
		component = binary.AppendUvarint(component, uint64(len(wasm)))
		component = append(component, wasm[:random.IntN(len(wasm))]...)
		if _, err := whole.baked(component); err == nil {
			t.Error("a component that is cut off is taken")
		}
	}
	for range 300 {
		noise := make([]byte, random.IntN(200))
		for index := range noise {
			noise[index] = byte(random.Uint32())
		}
		_, _ = split(append(bytes.Clone(header), noise...))
		_, _ = whole.baked(append(bytes.Clone(componentHeader), noise...))
	}
}

func TestRefuelNeedsACall(t *testing.T) {
	e := engine(t, Config{})
	i, err := e.Open(e.Fresh())
	if err != nil {
		t.Fatal(err)
	}
	i.fuel.Set(0)
	if _, err := i.allocate.Call(context.Background(), 0, 0, 1, 1); err == nil {
		t.Error("a call without a budget goes on")
	}
}
