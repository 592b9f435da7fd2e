// The program answers answers each line of standard input, a request, with one line: the answer, a tab, and the fuel that it
// took. Each request has an instance of its own. `cargo xtask runtimes` compares them with those of other runtimes. The
// argument is `compiler` or `interpreter`.
package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"os"

	seamgate "seamgate.dev/go"
)

func main() {
	log.SetFlags(0)
	if err := run(context.Background(), os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, arguments []string) error {
	var options []seamgate.Option
	switch {
	case len(arguments) == 1 && arguments[0] == "compiler":
	case len(arguments) == 1 && arguments[0] == "interpreter":
		options = append(options, seamgate.WithInterpreter(), seamgate.WithLimits(seamgate.Limits{Timeout: 1 << 40}))
	default:
		return fmt.Errorf("usage: answers compiler|interpreter < REQUESTS > ANSWERS")
	}
	gate, err := seamgate.New(ctx, options...)
	if err != nil {
		return err
	}
	defer func() { _ = gate.Close() }()
	return answerAll(ctx, gate, bufio.NewReader(os.Stdin), os.Stdout)
}

// answerAll answers on all processors, and writes the answers in the order of the requests.
func answerAll(ctx context.Context, gate *seamgate.Gate, from *bufio.Reader, to io.Writer) error {
	type answer struct {
		*seamgate.Answer
		err error
	}
	answers := make(chan chan answer, 64)
	var failed error
	go func() {
		defer close(answers)
		for {
			line, err := from.ReadBytes('\n')
			if line = bytes.TrimSuffix(line, []byte("\n")); len(line) > 0 {
				answered := make(chan answer, 1)
				answers <- answered
				go func() {
					made, err := gate.Call(ctx, line)
					answered <- answer{made, err}
				}()
			}
			if err != nil {
				if err != io.EOF {
					failed = err
				}
				return
			}
		}
	}()
	out := bufio.NewWriter(to)
	for answered := range answers {
		answer := <-answered
		if answer.err != nil {
			return answer.err
		}
		if _, err := fmt.Fprintf(out, "%s\t%d\n", answer.JSON, answer.Usage.Fuel); err != nil {
			return err
		}
	}
	if failed != nil {
		return failed
	}
	return out.Flush()
}
