package seamgate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// appendString appends a text, which must be valid UTF-8, as a JSON string.
func appendString(to, text []byte) []byte {
	to = append(to, '"')
	start := 0
	for at, b := range text {
		if b >= 0x20 && b != '"' && b != '\\' {
			continue
		}
		to = append(to, text[start:at]...)
		start = at + 1
		switch b {
		case '"', '\\':
			to = append(to, '\\', b)
		case '\n':
			to = append(to, '\\', 'n')
		case '\r':
			to = append(to, '\\', 'r')
		case '\t':
			to = append(to, '\\', 't')
		default:
			to = append(to, '\\', 'u', '0', '0', hexDigits[b>>4], hexDigits[b&0xf])
		}
	}
	return append(append(to, text[start:]...), '"')
}

// replaced returns the output with U+FFFD for bytes that are not UTF-8, and the offset of the first such byte; -1 if
// there is none. A truncated sequence is replaced as a whole, as the Unicode Standard recommends and other hosts do.
func replaced(output []byte) ([]byte, int) {
	if utf8.Valid(output) {
		return output, -1
	}
	first := -1
	text := make([]byte, 0, len(output)+16)
	for at := 0; at < len(output); {
		if r, size := utf8.DecodeRune(output[at:]); r != utf8.RuneError || size > 1 {
			text = append(text, output[at:at+size]...)
			at += size
			continue
		}
		if first < 0 {
			first = at
		}
		text = append(text, "\uFFFD"...)
		at += maximalSubpart(output[at:])
	}
	return text, first
}

// maximalSubpart returns the number of bytes of an invalid sequence that could begin a valid one; at least one.
func maximalSubpart(invalid []byte) int {
	low, high, most := byte(0x80), byte(0xbf), 0
	switch lead := invalid[0]; {
	case lead >= 0xc2 && lead <= 0xdf:
		most = 1
	case lead >= 0xe0 && lead <= 0xef:
		most = 2
	case lead >= 0xf0 && lead <= 0xf4:
		most = 3
	}
	switch invalid[0] {
	case 0xe0:
		low = 0xa0
	case 0xed:
		high = 0x9f
	case 0xf0:
		low = 0x90
	case 0xf4:
		high = 0x8f
	}
	length := 1
	for length <= most && length < len(invalid) && invalid[length] >= low && invalid[length] <= high {
		length++
		low, high = 0x80, 0xbf
	}
	return length
}

// marshal writes JSON text without escaping HTML characters.
func marshal(value any) ([]byte, error) {
	var to bytes.Buffer
	encoder := json.NewEncoder(&to)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(to.Bytes(), []byte("\n")), nil
}

// maxDocument is the most bytes of a contract or profile.
const maxDocument = 8 << 20

// document checks that a text can be embedded in a request. Otherwise invalid text could close the enclosing object and
// add members.
func document(what string, text []byte, code FaultCode) error {
	switch {
	case len(text) > maxDocument:
		return invalid(what, code, "bytes", fmt.Sprintf("must have at most %d bytes, not %d", maxDocument, len(text)))
	case !utf8.Valid(text):
		return invalid(what, code, "utf8", "must be UTF-8")
	case !json.Valid(text):
		var value any
		return invalid(what, code, "json", fmt.Sprintf("must be JSON: %v", json.Unmarshal(text, &value)))
	}
	return nil
}

// invalid returns the fault for a document that cannot be read.
func invalid(what string, code FaultCode, keyword, message string) error {
	violation := Violation{Path: "$", Keyword: keyword, Expected: "a JSON document", Message: message}
	return &Fault{
		Code: code, Message: what + ": $ " + message, Detail: FaultDetail{Violations: []Violation{violation}},
	}
}

// valueEnd returns the end of the value that begins at an offset of JSON text without optional white space.
func valueEnd(text []byte, start int) int {
	depth := 0
	for at := start; at < len(text); at++ {
		switch text[at] {
		case '"':
			at = stringEnd(text, at)
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return at
			}
		case ',':
			if depth == 0 {
				return at
			}
		}
	}
	return len(text)
}

// stringEnd returns the offset of the closing quote of the string that begins at start.
func stringEnd(text []byte, start int) int {
	for at := start + 1; at < len(text); at++ {
		quote := bytes.IndexByte(text[at:], '"')
		if quote < 0 {
			return len(text)
		}
		at += quote
		escapes := 0
		for text[at-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return at
		}
	}
	return len(text)
}

// member returns the text of a member of an object that is JSON text without optional white space; nil if it is
// missing.
func member(text []byte, name string) []byte {
	before := []byte(`"` + name + `":`)
	for at := 1; at < len(text); {
		end := valueEnd(text, at)
		if bytes.HasPrefix(text[at:], before) {
			return text[at+len(before) : end]
		}
		at = end + 1
	}
	return nil
}
