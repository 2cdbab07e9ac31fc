package postgres

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"regexp"
	"strings"
	"testing"
)

// keysOf takes a verifier apart.
func keysOf(t *testing.T, verifier string) (salt, stored, server []byte) {
	t.Helper()
	rest, ok := strings.CutPrefix(verifier, "SCRAM-SHA-256$4096:")
	parts := strings.FieldsFunc(rest, func(r rune) bool { return r == '$' || r == ':' })
	if !ok || len(parts) != 3 {
		t.Fatalf("no verifier: %q", verifier)
	}
	var decoded [3][]byte
	for i, part := range parts {
		var err error
		if decoded[i], err = base64.StdEncoding.DecodeString(part); err != nil {
			t.Fatal(err)
		}
	}
	return decoded[0], decoded[1], decoded[2]
}

// The exchange of RFC 7677, section 3.
func TestVerifierHasTheKeysOfTheRFC(t *testing.T) {
	t.Parallel()
	const exchange = "n=user,r=rOprNGfwEbeRWgbNEkqO," +
		"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096," +
		"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
	salt, _ := base64.StdEncoding.DecodeString("W22ZaJ0SNY7soEsUEjb6gQ==")
	proof, _ := base64.StdEncoding.DecodeString("dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=")
	v, err := verifier("pencil", salt)
	if err != nil {
		t.Fatal(err)
	}
	_, stored, server := keysOf(t, v)
	if got := base64.StdEncoding.EncodeToString(mac(server, exchange)); got != "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=" {
		t.Errorf("the server would sign %s", got)
	}
	clientKey := make([]byte, sha256.Size)
	subtle.XORBytes(clientKey, proof, mac(stored, exchange))
	if sha256.Sum256(clientKey) != [sha256.Size]byte(stored) {
		t.Error("the server would refuse the RFC's proof")
	}
}

func TestVerifierIsWhatTheServerMakesOfThePassword(t *testing.T) {
	p := newPlace(t)
	for _, password := range []string{NewPassword(), "pencil", "it's \\ \"quoted\" %", strings.Repeat("x", 200)} {
		role := p.role(t, "plain"+random(2), "LOGIN PASSWORD "+Literal(password))
		want := p.value(t, "SELECT rolpassword FROM pg_authid WHERE rolname = $1", role)
		salt, _, _ := keysOf(t, want)
		if got, err := verifier(password, salt); err != nil || got != want {
			t.Errorf("for %q the server has %s, and this makes %s (%v)", password, want, got, err)
		}
	}
}

func TestSaltsAndPasswordsAreFresh(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 20 {
		v, err := Verifier("x")
		if err != nil {
			t.Fatal(err)
		}
		salt, _, _ := keysOf(t, v)
		password := NewPassword()
		if seen[string(salt)] || seen[password] || len(salt) != 16 {
			t.Errorf("salt %x or password comes twice", salt)
		}
		seen[string(salt)], seen[password] = true, true
		if !regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`).MatchString(password) {
			t.Errorf("password %q", password)
		}
	}
}
