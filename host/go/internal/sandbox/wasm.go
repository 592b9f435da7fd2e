package sandbox

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// The numbers of sections.
const (
	sectionCustom    = 0
	sectionMemory    = 5
	sectionGlobal    = 6
	sectionData      = 11
	sectionDataCount = 12
	// sectionModule is the section of a component that holds a module.
	sectionModule = 1
)

// pageSize is the unit in which memory grows.
const pageSize = 64 << 10

// maxPages is the largest memory of an instance: 64 MiB.
const maxPages = 1024

// codeSection is the custom section with the digest of the code from which the module was made.
const codeSection = "seamgate-code"

// header is the beginning of every module.
var header = []byte("\x00asm\x01\x00\x00\x00")

// componentHeader is the beginning of every component.
var componentHeader = []byte("\x00asm\x0d\x00\x01\x00")

var errWasm = errors.New("the WebAssembly binary is truncated or invalid")

// A module is split into its code and the initial memory of an instance. Modules with the same code share their machine
// code, regardless of the contracts in their memory.
type module struct {
	// code is the module without data, and with an empty memory.
	code []byte
	// image is the initial memory.
	image []byte
	// made is the digest of the code from which the module was made.
	made []byte
	// globals is the section of globals.
	globals []byte
}

// split splits the module that the repository builds for this package.
func split(wasm []byte) (*module, error) {
	if !bytes.HasPrefix(wasm, header) {
		return nil, errors.New("the module is not a WebAssembly module: run `cargo xtask go`, which puts it in its place")
	}
	m := &module{code: make([]byte, 0, len(wasm))}
	m.code = append(m.code, header...)
	var memory, data []byte
	err := eachSection(wasm[len(header):], func(id byte, section []byte) error {
		switch id {
		case sectionMemory:
			memory = section
			// One memory, with a largest size.
			section = []byte{1, 1, 0}
			section = binary.AppendUvarint(section, maxPages)
		case sectionGlobal:
			m.globals = section
		case sectionData:
			data = section
			return nil
		case sectionDataCount:
			return errors.New("the module must copy no data segment while it runs")
		case sectionCustom:
			if name, rest, err := name(section); err == nil && name == codeSection {
				m.made = rest
			}
			return nil
		}
		m.code = append(m.code, id)
		m.code = binary.AppendUvarint(m.code, uint64(len(section)))
		m.code = append(m.code, section...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(m.made) != sha256.Size {
		return nil, fmt.Errorf("the module has no section %q: it is not the one that this package runs", codeSection)
	}
	m.image, err = image(memory, data)
	return m, err
}

// baked returns the module with the memory of a component from `seamgate bake` of the same version.
func (m *module) baked(component []byte) (*module, error) {
	if !bytes.HasPrefix(component, componentHeader) {
		return nil, errors.New("the file is not a component: expected what `seamgate bake` writes")
	}
	other := errors.New("the component is not one that `seamgate bake` of this version made: bake the contracts again")
	var inner []byte
	err := eachSection(component[len(componentHeader):], func(id byte, section []byte) error {
		if id == sectionModule && bytes.HasPrefix(section, header) && inner == nil {
			return eachSection(section[len(header):], func(id byte, _ []byte) error {
				if id == sectionMemory {
					inner = section[len(header):]
				}
				return nil
			})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if inner == nil {
		return nil, other
	}
	digest := sha256.New()
	var memory, data, globals []byte
	err = eachSection(inner, func(id byte, section []byte) error {
		switch id {
		case sectionMemory:
			memory = section
		case sectionGlobal:
			globals = section
		case sectionData:
			data = section
		case sectionDataCount, sectionCustom:
		default:
			digest.Write([]byte{id})
			var length [4]byte
			binary.LittleEndian.PutUint32(length[:], uint32(len(section)))
			digest.Write(length[:])
			digest.Write(section)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	// The module of this package has two additional globals at the end. All globals are constants except the stack
	// pointer, which has its initial value again after each call.
	if !slices.Equal(digest.Sum(nil), m.made) || len(globals) == 0 || len(m.globals) == 0 ||
		!bytes.HasPrefix(m.globals[1:], globals[1:]) {
		return nil, other
	}
	image, err := image(memory, data)
	if err != nil {
		return nil, err
	}
	return &module{code: m.code, image: image, made: m.made, globals: m.globals}, nil
}

// image returns the memory that the sections of a module describe.
func image(memory, data []byte) ([]byte, error) {
	r := reader{memory}
	count, flags, pages := r.number(), r.number(), r.number()
	if r.rest == nil || count != 1 || flags > 1 || pages > maxPages {
		return nil, errors.New("the module must have one memory, of at most 64 MiB")
	}
	image := make([]byte, pages*pageSize)
	r = reader{data}
	for range r.number() {
		switch kind := r.number(); kind {
		case 0:
		case 1:
			// Only an instruction could copy this segment, and without a data count section there is no such instruction.
			r.bytes()
			continue
		default:
			return nil, fmt.Errorf("the module must have one memory, and a data segment has the kind %d", kind)
		}
		if r.byte() != 0x41 {
			return nil, errors.New("a data segment of the module must have a constant address")
		}
		at := uint32(r.signed())
		if r.byte() != 0x0b {
			return nil, errWasm
		}
		bytes := r.bytes()
		if r.rest == nil || uint64(at)+uint64(len(bytes)) > uint64(len(image)) {
			return nil, errWasm
		}
		copy(image[at:], bytes)
	}
	if r.rest == nil {
		return nil, errWasm
	}
	return image, nil
}

// eachSection calls visit for each section.
func eachSection(wasm []byte, visit func(id byte, section []byte) error) error {
	r := reader{wasm}
	for len(r.rest) > 0 {
		id, section := r.byte(), r.bytes()
		if r.rest == nil {
			return errWasm
		}
		if err := visit(id, section); err != nil {
			return err
		}
	}
	return nil
}

// name splits a custom section.
func name(section []byte) (string, []byte, error) {
	r := reader{section}
	name := r.bytes()
	if r.rest == nil {
		return "", nil, errWasm
	}
	return string(name), r.rest, nil
}

// A reader reads a binary. After an error, rest is nil and stays so.
type reader struct{ rest []byte }

func (r *reader) byte() byte {
	if len(r.rest) == 0 {
		r.rest = nil
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

func (r *reader) number() uint64 {
	value, length := binary.Uvarint(r.rest)
	if length <= 0 || value > 1<<32-1 {
		r.rest = nil
		return 0
	}
	r.rest = r.rest[length:]
	return value
}

// signed reads a number of 32 bits.
func (r *reader) signed() int32 {
	var value int64
	for shift := 0; shift < 35; shift += 7 {
		b := r.byte()
		value |= int64(b&0x7f) << shift
		if b&0x80 == 0 {
			if b&0x40 != 0 {
				value |= -1 << (shift + 7)
			}
			return int32(value)
		}
	}
	r.rest = nil
	return 0
}

// bytes reads a length, and this many bytes.
func (r *reader) bytes() []byte {
	length := r.number()
	if r.rest == nil || length > uint64(len(r.rest)) {
		r.rest = nil
		return nil
	}
	bytes := r.rest[:length:length]
	r.rest = r.rest[length:]
	return bytes
}
