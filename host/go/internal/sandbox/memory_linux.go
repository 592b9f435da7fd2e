package sandbox

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mappedImages creates memories that are private mappings of one file. The kernel copies a page on the first write to
// it, and reports which pages were written. So the cost of a reset depends only on the written pages, and unwritten
// pages are shared.
type mappedImages struct {
	file *os.File
	// image is the file, mapped read-only.
	image []byte
	// written is the file in which the kernel reports the written pages of a mapping.
	written *os.File
}

// newImages creates images from a memory. If the system lacks a call, memories are copied.
func newImages(image []byte) images {
	mapped, err := newMappedImages(image)
	if err != nil {
		return &copiedImages{image: image}
	}
	// A system may have the calls but behave differently, such as gVisor.
	if err := mapped.try(); err != nil {
		mapped.release()
		return &copiedImages{image: image}
	}
	return mapped
}

func newMappedImages(image []byte) (*mappedImages, error) {
	if os.Getpagesize() != smallPage {
		return nil, fmt.Errorf("pages have %d bytes", os.Getpagesize())
	}
	fd, err := unix.MemfdCreate("seamgate", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, err
	}
	i := &mappedImages{file: os.NewFile(uintptr(fd), "seamgate")}
	if _, err := i.file.Write(image); err != nil {
		i.release()
		return nil, err
	}
	seals := unix.F_SEAL_SEAL | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
		i.release()
		return nil, err
	}
	if i.image, err = unix.Mmap(fd, 0, len(image), unix.PROT_READ, unix.MAP_SHARED|unix.MAP_POPULATE); err != nil {
		i.release()
		return nil, err
	}
	if i.written, err = os.Open("/proc/self/pagemap"); err != nil {
		i.release()
		return nil, err
	}
	return i, nil
}

// try writes to a memory and resets it, and returns an error if that does not work.
func (i *mappedImages) try() error {
	made, err := i.memory()
	if err != nil {
		return err
	}
	defer made.release()
	m := made.(*mappedMemory)
	m.begin(len(i.image))
	first := m.Reallocate(0)
	at := len(first) - 1
	before := first[at]
	first[at]++
	s, err := m.snapshot()
	if err != nil {
		return err
	}
	if len(s.pieces) != 1 || len(m.pages) != 1 {
		return fmt.Errorf("the system names %d written pages, not the one", len(m.pages))
	}
	if err := m.reset(&Snapshot{size: len(i.image)}); err != nil {
		return err
	}
	if first[at] != before {
		return fmt.Errorf("the system does not put a page back")
	}
	return nil
}

func (i *mappedImages) release() {
	if i.image != nil {
		_ = unix.Munmap(i.image)
	}
	if i.written != nil {
		_ = i.written.Close()
	}
	_ = i.file.Close()
}

func (i *mappedImages) memory() (memory, error) {
	flags := unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_NORESERVE
	room, err := unix.Mmap(-1, 0, maxPages*pageSize, unix.PROT_READ|unix.PROT_WRITE, flags)
	if err != nil {
		return nil, fmt.Errorf("no memory for an instance: %w", err)
	}
	// In its place, so that what `room` begins with is the image.
	_, err = unix.MmapPtr(int(i.file.Fd()), 0, unsafe.Pointer(&room[0]), uintptr(len(i.image)),
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_FIXED)
	if err != nil {
		_ = unix.Munmap(room)
		return nil, fmt.Errorf("no memory for an instance: %w", err)
	}
	return &mappedMemory{images: i, room: room, length: len(i.image), first: len(i.image)}, nil
}

// A mappedMemory reserves addresses for the largest memory, and never moves.
type mappedMemory struct {
	images *mappedImages
	room   []byte
	// length is the size of the memory within the reserved addresses.
	length int
	first  int
	begun  bool
	// entries is a buffer for the kernel's descriptions of pages.
	entries []byte
	// pages has the offsets of the pages that were written.
	pages []int
}

func (m *mappedMemory) begin(size int) { m.first, m.begun = size, false }

func (m *mappedMemory) size() int { return m.length }

// Reallocate implements [experimental.LinearMemory].
func (m *mappedMemory) Reallocate(size uint64) []byte {
	if !m.begun {
		m.begun = true
		size = uint64(m.first)
	}
	if size > uint64(len(m.room)) {
		return nil
	}
	m.length = int(size)
	return m.room[:size:size]
}

// Free implements [experimental.LinearMemory]. The next instance has the memory.
func (m *mappedMemory) Free() {}

func (m *mappedMemory) reset(s *Snapshot) error {
	image := m.images.image
	if m.length > len(image) {
		if err := unix.Madvise(m.room[len(image):m.length], unix.MADV_DONTNEED); err != nil {
			return err
		}
	}
	if err := m.written(len(image)); err != nil {
		return err
	}
	// Letting the kernel drop the pages costs more, because the next use of each causes a page fault.
	for _, at := range m.pages {
		copy(m.room[at:at+smallPage], image[at:at+smallPage])
	}
	m.length = s.size
	s.lay(m.room[:s.size])
	return nil
}

func (m *mappedMemory) snapshot() (*Snapshot, error) {
	if err := m.written(m.length); err != nil {
		return nil, err
	}
	return since(m.images.image, m.room[:m.length], slices.Values(m.pages)), nil
}

// Bits by which the kernel describes a page (Documentation/admin-guide/mm/pagemap.rst).
const (
	pagePresent = 1 << 63
	pageSwapped = 1 << 62
	// pageOfFile is set if the page belongs to the file, because it was never written.
	pageOfFile = 1 << 61
)

// written sets pages to all pages that were ever written.
func (m *mappedMemory) written(size int) error {
	const entry = 8
	need := size / smallPage * entry
	if len(m.entries) < need {
		m.entries = make([]byte, need)
	}
	at := int64(uintptr(unsafe.Pointer(&m.room[0])) / smallPage * entry)
	if _, err := m.images.written.ReadAt(m.entries[:need], at); err != nil {
		return fmt.Errorf("cannot read which pages were written: %w", err)
	}
	m.pages = m.pages[:0]
	for page := range size / smallPage {
		flags := binary.NativeEndian.Uint64(m.entries[page*entry:])
		if flags&pageSwapped != 0 || flags&(pagePresent|pageOfFile) == pagePresent {
			m.pages = append(m.pages, page*smallPage)
		}
	}
	return nil
}

func (m *mappedMemory) release() { _ = unix.Munmap(m.room) }
