package sandbox

import "github.com/tetratelabs/wazero/experimental"

// smallPage is the unit in which memory is reset.
const smallPage = 4 << 10

// A memory is the memory of one instance at a time. Initially it is the image of the engine.
type memory interface {
	experimental.LinearMemory
	// begin sets the size that the next instance begins with.
	begin(size int)
	// size returns the current size of the memory.
	size() int
	// reset resets the memory to a snapshot.
	reset(s *Snapshot) error
	// snapshot returns the difference to the image.
	snapshot() (*Snapshot, error)
	// release frees the memory.
	release()
}

// An images creates memories from one image.
type images interface {
	memory() (memory, error)
	release()
}
