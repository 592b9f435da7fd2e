package sandbox

import "bytes"

const (
	// stackSize is the size of the stack, at the lowest addresses. It is not used between calls.
	stackSize = 512 << 10
	// near is the unit in which memory is compared.
	near = 64
)

// A Snapshot is the difference of a memory to the image, and the size of the memory.
type Snapshot struct {
	size   int
	pieces []piece
}

type piece struct {
	at    int
	bytes []byte
}

// Bytes returns the number of bytes that differ from the image.
func (s *Snapshot) Bytes() int {
	total := 0
	for _, piece := range s.pieces {
		total += len(piece.bytes)
	}
	return total
}

// since compares pages of a memory, in ascending order, with the image.
func since(image, memory []byte, pages func(yield func(at int) bool)) *Snapshot {
	s := &Snapshot{size: len(memory)}
	for page := range pages {
		if page < stackSize {
			continue
		}
		for at := page; at < page+smallPage; at += near {
			now := memory[at : at+near]
			if bytes.Equal(now, original(image, at, near)) {
				continue
			}
			last := len(s.pieces) - 1
			if last >= 0 && s.pieces[last].at+len(s.pieces[last].bytes) == at {
				s.pieces[last].bytes = append(s.pieces[last].bytes, now...)
			} else {
				s.pieces = append(s.pieces, piece{at, bytes.Clone(now)})
			}
		}
	}
	return s
}

// lay writes the snapshot to a memory that equals the image.
func (s *Snapshot) lay(memory []byte) {
	for _, piece := range s.pieces {
		copy(memory[piece.at:], piece.bytes)
	}
}

var zeros [smallPage]byte

// original returns the initial content of a memory. Beyond the image, it is zero.
func original(image []byte, at, length int) []byte {
	if at < len(image) {
		return image[at : at+length]
	}
	return zeros[:length]
}
