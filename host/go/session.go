package seamgate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"sync"
	"unicode/utf8"
)

// A Session takes an output that is still coming, in pieces of any size. Nothing is judged before the end but what can no
// longer become right. It is an [io.Writer] and an [io.ReaderFrom]; one goroutine at a time writes.
type Session struct {
	gate    *Gate
	ctx     context.Context
	request Request

	mutex    sync.Mutex
	output   bytes.Buffer
	partial  []byte
	state    json.RawMessage
	progress Progress
	over     bool
}

// Session begins an output. The request's output is not looked at. The context bounds what the session writes and reads. Missing
// lists and missing evidence are faults now, and not at the end.
func (g *Gate) Session(ctx context.Context, request Request) (*Session, error) {
	if request.Contract != nil {
		return nil, errors.New("seamgate: a session is for the contract of an agent: register it")
	}
	request.Output = nil
	if _, err := g.Validate(ctx, request); err != nil {
		return nil, err
	}
	return &Session{gate: g, ctx: ctx, request: request}, nil
}

// ErrSessionOver is the error of a session that was finished.
var ErrSessionOver = errors.New("seamgate: the session is over: it was finished")

// ErrDeadEnd is the error of [Session.ReadFrom] and [Session.Items] when the output can no longer become right: stop the producer.
var ErrDeadEnd = errors.New("seamgate: the output can no longer become right")

// Push takes what came next, and returns what is known now.
func (s *Session) Push(ctx context.Context, chunk []byte) (*Progress, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.over {
		return nil, ErrSessionOver
	}
	if err := s.gate.limits.smallEnough(s.output.Len() + len(chunk)); err != nil {
		return nil, err
	}
	// A piece may end within a character.
	whole := append(s.partial, chunk...)
	end := len(whole)
	for back := 1; back < utf8.UTFMax && back <= len(whole); back++ {
		if b := whole[len(whole)-back]; utf8.RuneStart(b) {
			if !utf8.FullRune(whole[len(whole)-back:]) {
				end = len(whole) - back
			}
			break
		}
	}
	text, _ := replaced(whole[:end])
	request := appendText([]byte(`{"op":"push","agent":`), s.request.Agent)
	request = appendString(append(request, `,"chunk":`...), text)
	if s.state != nil {
		request = append(append(request, `,"state":`...), s.state...)
	}
	var needed []*registered
	if one := s.gate.contracts.find(s.request.Agent); one != nil {
		needed = []*registered{one}
	}
	told, _, err := s.gate.once().ask(ctx, needed, written{append(request, '}'), len(request)}, "result")
	if err != nil {
		return nil, err
	}
	var read struct {
		State    json.RawMessage
		Progress Progress
	}
	if err := json.Unmarshal(told, &read); err != nil {
		return nil, err
	}
	s.output.Write(chunk)
	s.partial = bytes.Clone(whole[end:])
	s.state, s.progress = read.State, read.Progress
	return &read.Progress, nil
}

// Progress returns what was known after the last piece.
func (s *Session) Progress() Progress {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.progress
}

// Write implements [io.Writer].
func (s *Session) Write(chunk []byte) (int, error) {
	if _, err := s.Push(s.ctx, chunk); err != nil {
		return 0, err
	}
	return len(chunk), nil
}

// ReadFrom implements [io.ReaderFrom]. It reads until the end, or until the output can no longer become right: then the error
// is [ErrDeadEnd], and [Session.Progress] says why.
func (s *Session) ReadFrom(from io.Reader) (int64, error) {
	return s.read(s.ctx, from, func(*Progress) bool { return true })
}

// Items reads as [Session.ReadFrom] does, and yields each item as soon as it is complete; [Session.Text] has its text. An item
// is not judged yet: the verdict on all is that of [Session.Finish]. An error is the last that it yields. The context is for
// the calls in it. A loop that ends early leaves the rest of the reader unread.
func (s *Session) Items(ctx context.Context, from io.Reader) iter.Seq2[Completed, error] {
	return func(yield func(Completed, error) bool) {
		wanted := true
		_, err := s.read(ctx, from, func(progress *Progress) bool {
			for _, item := range progress.Items {
				if wanted = yield(item, nil); !wanted {
					break
				}
			}
			return wanted
		})
		if err != nil && wanted {
			yield(Completed{}, err)
		}
	}
}

// read pushes what a reader gives, until its end, a dead end, or what progressed returns false for.
func (s *Session) read(ctx context.Context, from io.Reader, progressed func(*Progress) bool) (int64, error) {
	var total int64
	buffer := make([]byte, 32<<10)
	for {
		count, err := from.Read(buffer)
		if count > 0 {
			progress, err := s.Push(ctx, buffer[:count])
			if err != nil {
				return total, err
			}
			total += int64(count)
			if !progressed(progress) {
				return total, nil
			}
			if progress.DeadEnd != nil {
				return total, ErrDeadEnd
			}
		}
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}

// Text returns a copy of a piece of the output that came so far, such as that of an item. A piece that has not come is empty.
func (s *Session) Text(of Span) []byte {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	// Spans count in the text that was judged, in which bytes that are not UTF-8 are replaced.
	output, _ := replaced(s.output.Bytes())
	start, end := of[0], of[1]
	if start < 0 || start > end || end > len(output) {
		return nil
	}
	return bytes.Clone(output[start:end])
}

// Finish returns the verdict on all that came, byte for byte as [Gate.Validate] gives it for the whole text. finish is why the
// producer stopped; empty for what the request says.
func (s *Session) Finish(ctx context.Context, finish Finish) (*Verdict, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.over {
		return nil, ErrSessionOver
	}
	request := s.request
	request.Output = s.output.Bytes()
	if finish != "" {
		request.Finish = finish
	}
	verdict, err := s.gate.Validate(ctx, request)
	if err == nil {
		s.over = true
	}
	return verdict, err
}
