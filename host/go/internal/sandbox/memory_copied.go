package sandbox

import "bytes"

// copiedImages creates memories in Go's heap, for systems without the system calls that mappedImages needs. Resetting
// one compares all of it with the image.
type copiedImages struct{ image []byte }

func (i *copiedImages) memory() (memory, error) {
	return &copiedMemory{image: i.image, bytes: bytes.Clone(i.image), first: len(i.image)}, nil
}

func (i *copiedImages) release() {}

type copiedMemory struct {
	image []byte
	// bytes is the memory of the current or the previous instance.
	bytes []byte
	// first is the size that the next instance begins with.
	first int
	begun bool
}

func (m *copiedMemory) begin(size int) { m.first, m.begun = size, false }

func (m *copiedMemory) size() int { return len(m.bytes) }

// Reallocate implements [experimental.LinearMemory].
func (m *copiedMemory) Reallocate(size uint64) []byte {
	if !m.begun {
		m.begun = true
		size = uint64(m.first)
	}
	if size > maxPages*pageSize {
		return nil
	}
	if int(size) != len(m.bytes) {
		bytes := make([]byte, size)
		copy(bytes, m.bytes)
		m.bytes = bytes
	}
	return m.bytes
}

// Free implements [experimental.LinearMemory]. It does nothing, because the next instance reuses the memory.
func (m *copiedMemory) Free() {}

func (m *copiedMemory) reset(s *Snapshot) error {
	if len(m.bytes) != s.size {
		// The old memory still belongs to an instance that is not used again.
		m.bytes = make([]byte, s.size)
	}
	for at := 0; at < len(m.bytes); at += smallPage {
		page := m.bytes[at : at+smallPage]
		if from := original(m.image, at, smallPage); !bytes.Equal(page, from) {
			copy(page, from)
		}
	}
	s.lay(m.bytes)
	return nil
}

func (m *copiedMemory) snapshot() (*Snapshot, error) {
	return since(m.image, m.bytes, func(yield func(int) bool) {
		for at := 0; at < len(m.bytes); at += smallPage {
			if !yield(at) {
				return
			}
		}
	}), nil
}

func (m *copiedMemory) release() {}
