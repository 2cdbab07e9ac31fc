package postgres

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
)

const (
	scramIterations = 4096
	scramSaltBytes  = 16
)

// NewPassword returns a random password of 43 URL-safe ASCII characters, 256
// bits. ASCII needs no SASL preparation.
func NewPassword() string {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails: crypto/rand crashes the program instead
	return base64.RawURLEncoding.EncodeToString(secret)
}

// Verifier returns what Postgres stores for an ASCII password under
// SCRAM-SHA-256 (RFC 5803), with a fresh salt. A server that is sent it never
// learns the password.
func Verifier(password string) (string, error) {
	salt := make([]byte, scramSaltBytes)
	_, _ = rand.Read(salt)
	return verifier(password, salt)
}

func verifier(password string, salt []byte) (string, error) {
	salted, err := pbkdf2.Key(sha256.New, password, salt, scramIterations, sha256.Size)
	if err != nil {
		return "", fmt.Errorf("derive the SCRAM key: %w", err)
	}
	stored := sha256.Sum256(mac(salted, "Client Key"))
	encode := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("SCRAM-SHA-256$%d:%s$%s:%s",
		scramIterations, encode(salt), encode(stored[:]), encode(mac(salted, "Server Key"))), nil
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}
