package sandbox

import "github.com/tetratelabs/wazero/experimental"

// smallPage is the unit in which memory is put back.
const smallPage = 4 << 10

// A memory is what one instance at a time has as its memory. It begins as the image of the engine.
type memory interface {
	experimental.LinearMemory
	// begin sets the size that the next instance begins with.
	begin(size int)
	// size returns how large the memory is now.
	size() int
	// reset makes the memory what a snapshot says.
	reset(s *Snapshot) error
	// snapshot returns the difference to the image.
	snapshot() (*Snapshot, error)
	// release frees it.
	release()
}

// An images makes memories that begin as one image.
type images interface {
	memory() (memory, error)
	release()
}
