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

// A Session follows an output while it is streamed, in chunks of any size. Before the end, only failures that no
// further text can fix are reported. It is an [io.Writer] and an [io.ReaderFrom]. Only one goroutine at a time may
// write.
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

// Session begins a session. The request's output is ignored. The context bounds Write and ReadFrom. Missing lists and
// missing evidence are reported as faults now, not at the end.
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

// ErrSessionOver is the error of calls on a session that is finished.
var ErrSessionOver = errors.New("seamgate: the session is over: it was finished")

// ErrDeadEnd is the error of [Session.ReadFrom] and [Session.Items] if the output can no longer become valid: stop the
// producer.
var ErrDeadEnd = errors.New("seamgate: the output can no longer become right")

// Push adds the next chunk, and returns the progress.
func (s *Session) Push(ctx context.Context, chunk []byte) (*Progress, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.over {
		return nil, ErrSessionOver
	}
	if err := s.gate.limits.smallEnough(s.output.Len() + len(chunk)); err != nil {
		return nil, err
	}
	// A chunk may end within a character.
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

// Progress returns the progress after the last chunk.
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

// ReadFrom implements [io.ReaderFrom]. It reads until the end, or until the output can no longer become valid. Then the
// error is [ErrDeadEnd], and [Session.Progress] says why.
func (s *Session) ReadFrom(from io.Reader) (int64, error) {
	return s.read(s.ctx, from, func(*Progress) bool { return true })
}

// Items reads as [Session.ReadFrom] does, and yields each item as soon as it is complete; [Session.Text] returns its
// text. Items are not judged yet: [Session.Finish] returns the verdict. After an error, nothing more is yielded. The
// context bounds the calls. A loop that exits early leaves the rest of the reader unread.
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

// read pushes chunks from a reader until its end, a dead end, or until progressed returns false.
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

// Text returns a copy of a part of the output so far, such as an item. A part that has not arrived yet is empty.
func (s *Session) Text(of Span) []byte {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	// Spans refer to the judged text, in which bytes that are not UTF-8 are replaced.
	output, _ := replaced(s.output.Bytes())
	start, end := of[0], of[1]
	if start < 0 || start > end || end > len(output) {
		return nil
	}
	return bytes.Clone(output[start:end])
}

// Finish returns the verdict, byte for byte the same as that of [Gate.Validate] on the whole output. finish is the
// reason why the producer stopped; empty for the one in the request.
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
