package catalog

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// newKey is a key made of one byte.
func newKey(b byte) string {
	return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{b}, keyBytes))
}

func newBox(t *testing.T, b byte) *Box {
	t.Helper()
	box, err := NewBox(newKey(b))
	if err != nil {
		t.Fatal(err)
	}
	return box
}

func TestABoxOpensWhatItSealed(t *testing.T) {
	t.Parallel()
	box := newBox(t, 1)
	rapid.Check(t, func(t *rapid.T) {
		identity, password := rapid.String().Draw(t, "identity"), rapid.String().Draw(t, "password")
		sealed, err := box.Seal(identity, password)
		if err != nil {
			t.Fatal(err)
		}
		if len(password) > 3 && bytes.Contains(sealed, []byte(password)) {
			t.Fatalf("the password can be read: %q", sealed)
		}
		if got, err := box.Open(identity, sealed); err != nil || got != password {
			t.Fatalf("opened is %q, %v", got, err)
		}
		// One byte that is changed anywhere, or left out at the end, shuts it.
		i := rapid.IntRange(0, len(sealed)-1).Draw(t, "byte")
		changed := bytes.Clone(sealed)
		changed[i] ^= byte(rapid.IntRange(1, 255).Draw(t, "bits"))
		for _, other := range [][]byte{changed, sealed[:i]} {
			if got, err := box.Open(identity, other); !errors.Is(err, ErrWrongKey) || got != "" {
				t.Fatalf("%x opens to %q, %v", other, got, err)
			}
		}
	})
}

func TestABoxStaysShut(t *testing.T) {
	t.Parallel()
	sealed, err := newBox(t, 1).Seal("a", "s3cr3t")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		box      *Box
		identity string
		sealed   []byte
		want     error
	}{
		"under another key":   {newBox(t, 2), "a", sealed, ErrWrongKey},
		"on another row":      {newBox(t, 1), "b", sealed, ErrWrongKey},
		"without an identity": {newBox(t, 1), "", sealed, ErrWrongKey},
		"of an empty row":     {newBox(t, 1), "a", nil, ErrWrongKey},
		"without a key":       {nil, "a", sealed, ErrNoKey},
	} {
		if got, err := test.box.Open(test.identity, test.sealed); !errors.Is(err, test.want) || got != "" {
			t.Errorf("%s it opens to %q, %v", name, got, err)
		}
	}
	if sealed, err := (*Box)(nil).Seal("a", "s3cr3t"); !errors.Is(err, ErrNoKey) || sealed != nil {
		t.Errorf("without a key it seals %q, %v", sealed, err)
	}
}

func TestTheSamePasswordIsSealedDifferently(t *testing.T) {
	t.Parallel()
	box := newBox(t, 1)
	one, _ := box.Seal("a", "s3cr3t")
	two, _ := box.Seal("a", "s3cr3t")
	if bytes.Equal(one, two) || bytes.Equal(one[:12], two[:12]) {
		t.Error("a nonce came twice")
	}
}

func TestAKeyThatIsOfNoUseIsNotRepeated(t *testing.T) {
	t.Parallel()
	raw := bytes.Repeat([]byte{0xfb}, keyBytes)
	for name, test := range map[string]struct{ key, says string }{
		"empty":            {"", "0 bytes and needs 32"},
		"short":            {"c2VjcmV0LXNlY3JldA==", "13 bytes and needs 32"},
		"long":             {base64.StdEncoding.EncodeToString(append(raw, 1)), "33 bytes and needs 32"},
		"not base64":       {"s3cr3t s3cr3t!", "not base64"},
		"URL-safe":         {base64.URLEncoding.EncodeToString(raw), "not base64"},
		"without padding":  {base64.RawStdEncoding.EncodeToString(raw), "not base64"},
		"hexadecimal":      {strings.Repeat("0f", 32), "48 bytes and needs 32"},
		"the bytes, plain": {string(raw), "not base64"},
	} {
		box, err := NewBox(test.key)
		if err == nil || box != nil {
			t.Errorf("%s: it is taken", name)
			continue
		}
		if !strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), HowToMakeAKey) {
			t.Errorf("%s: %v", name, err)
		}
		if test.key != "" && (strings.Contains(err.Error(), test.key) || strings.Contains(err.Error(), test.key[:6])) {
			t.Errorf("%s: the key is in %v", name, err)
		}
	}
}

func rotating(t *testing.T, b, previous byte) *Box {
	t.Helper()
	box, err := newBox(t, b).Rotating(newKey(previous))
	if err != nil {
		t.Fatal(err)
	}
	return box
}

func TestARotatingBoxOpensBothAndSealsUnderItsOwn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		identity, password := rapid.String().Draw(rt, "identity"), rapid.String().Draw(rt, "password")
		old, box := newBox(t, 1), rotating(t, 2, 1)
		before, _ := old.Seal(identity, password)
		if behind, err := box.Behind(identity, before); !behind || err != nil {
			t.Fatalf("what is under the previous key is behind: %v, %v", behind, err)
		}
		again, moved, err := box.Reseal(identity, before)
		if err != nil || !moved {
			t.Fatalf("resealed: %v, %v", moved, err)
		}
		for _, sealed := range [][]byte{before, again} {
			if got, err := box.Open(identity, sealed); err != nil || got != password {
				t.Fatalf("opened is %q, %v", got, err)
			}
			if got, err := box.Open(identity+"x", sealed); !errors.Is(err, ErrNeitherKey) || got != "" {
				t.Fatalf("on another row it opens to %q, %v", got, err)
			}
		}
		if got, err := newBox(t, 2).Open(identity, again); err != nil || got != password {
			t.Fatalf("under the new key alone it opens to %q, %v", got, err)
		}
		if got, err := old.Open(identity, again); !errors.Is(err, ErrWrongKey) || got != "" {
			t.Fatalf("under the previous key alone it opens to %q, %v", got, err)
		}
		if same, moved, err := box.Reseal(identity, again); moved || err != nil || !bytes.Equal(same, again) {
			t.Fatalf("resealed twice: %v, %v", moved, err)
		}
		if _, moved, err := box.Reseal(identity+"x", before); !errors.Is(err, ErrNeitherKey) || moved {
			t.Fatalf("another row's is resealed: %v, %v", moved, err)
		}
	})
}

func TestAPreviousKeyThatIsOfNoUse(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		box      *Box
		previous string
		says     string
	}{
		"short":         {newBox(t, 1), "c2VjcmV0LXNlY3JldA==", "previous_encryption_key has 13 bytes and needs 32"},
		"not base64":    {newBox(t, 1), "s3cr3t s3cr3t!", "previous_encryption_key is not base64"},
		"the same":      {newBox(t, 1), newKey(1), "previous_encryption_key is the same key as encryption_key"},
		"without a new": {nil, newKey(1), "previous_encryption_key is set and encryption_key is not"},
	} {
		box, err := test.box.Rotating(test.previous)
		if err == nil || box != nil {
			t.Errorf("%s: it is taken", name)
			continue
		}
		if !strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), howToRotate) || strings.Contains(err.Error(), test.previous) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMarksAreReadBack(t *testing.T) {
	t.Parallel()
	if id, ok := Marked(Mark("some id")); !ok || id != "some id" {
		t.Errorf("read is %q, %v", id, ok)
	}
	for _, note := range []string{"", "of us", "\n of\nlines\n", Mark("other")} {
		comment := Comment("some id", note)
		if id, ok := Marked(comment); !ok || id != "some id" || Note(comment) != note || !HasMark(comment, "some id") || HasMark(comment, "other") {
			t.Errorf("%q is the mark of %q, %v, with the note %q", comment, id, ok, Note(comment))
		}
	}
	for _, comment := range []string{"", "mine", "Datatable role x", "a datatable role x", "mine\n" + Mark("x")} {
		if id, ok := Marked(comment); ok {
			t.Errorf("%q is the mark of %q", comment, id)
		}
	}
}
