package seamgate

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWhatIsNotUTF8IsReplacedAsOtherHostsDo(t *testing.T) {
	for given, want := range map[string]string{
		"":                         "",
		"é😀":                       "é😀",
		"\xff":                     "�",
		"\x80\x80":                 "��",
		"a\xc3":                    "a�",
		"\xc3(":                    "�(",
		"\xe2\x82":                 "�",
		"\xe2\x82(":                "�(",
		"\xf0\x9f\x98":             "�",
		"\xf0\x9f\x98\xf0":         "��",
		"\xe0\x80\x80":             "���",
		"\xed\xa0\x80":             "���",
		"\xf4\x90\x80\x80":         "����",
		"\xc0\xaf":                 "��",
		"\xf0\x9f\x98\x80\xf0\x9f": "😀�",
		"�\xff":                    "��",
	} {
		text, at := replaced([]byte(given))
		if string(text) != want {
			t.Errorf("%q: %q, not %q", given, text, want)
		}
		if first := strings.IndexFunc(given, func(r rune) bool { return r == utf8.RuneError }); utf8.ValidString(given) != (at < 0) || at > len(given) || at >= 0 && at < first {
			t.Errorf("%q: it begins at %d", given, at)
		}
	}
}

func FuzzStringsAreReadAgain(f *testing.F) {
	for _, text := range []string{"", "a\"b\\c\n\r\t\x00\x1f\x7f", "é😀\u2028", "\xff"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, given []byte) {
		text, _ := replaced(given)
		if !utf8.Valid(text) {
			t.Fatalf("%q is not UTF-8", text)
		}
		written := appendString(nil, text)
		var read string
		if err := json.Unmarshal(written, &read); err != nil || read != string(text) {
			t.Fatalf("%q, %v", read, err)
		}
		object := append(append([]byte(`{"a":[1,{"b":"}"}],"c":`), written...), `,"d":null}`...)
		if got := member(object, "c"); !bytes.Equal(got, written) {
			t.Fatalf("%q", got)
		}
		if got := member(object, "d"); string(got) != "null" {
			t.Fatalf("%q", got)
		}
		_ = valueEnd(given, 0)
		_ = member(given, "a")
	})
}
