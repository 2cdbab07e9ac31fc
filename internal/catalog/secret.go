package catalog

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
)

const keyBytes = 32

// HowToMakeAKey is said wherever an encryption key is missing or of no use.
const HowToMakeAKey = "Make one with `openssl rand -base64 32`, keep it where you keep secrets, and pass it in " +
	"as encryption_key or DATATABLE_ENCRYPTION_KEY"

// ErrNoKey is returned where a password has to be sealed or opened and no
// encryption key is configured.
var ErrNoKey = errors.New("encryption_key is not set. It encrypts the passwords of logins in the catalog. " + HowToMakeAKey)

// ErrWrongKey is returned where a password was sealed under another key.
var ErrWrongKey = errors.New("encryption_key is not the key that the catalog's passwords were encrypted with, or the row was changed by hand")

// A Box seals passwords with AES-256-GCM. What a password is for goes in as
// associated data, so that a row copied onto another does not open. The nil
// Box has no key, and every use of it is ErrNoKey.
type Box struct{ aead cipher.AEAD }

// NewBox makes a box from the base64 of 32 bytes. The error does not repeat
// the key.
func NewBox(key string) (*Box, error) {
	raw, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		return nil, errors.New("encryption_key is not base64 (standard alphabet, with padding). " + HowToMakeAKey)
	}
	if len(raw) != keyBytes {
		return nil, fmt.Errorf("encryption_key has %d bytes and needs %d. %s", len(raw), keyBytes, HowToMakeAKey)
	}
	block, err := aes.NewCipher(raw)
	if err != nil {
		return nil, fmt.Errorf("encryption_key: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("encryption_key: %w", err)
	}
	return &Box{aead: aead}, nil
}

// Seal encrypts a password that belongs to identity.
func (b *Box) Seal(identity, password string) ([]byte, error) {
	if b == nil {
		return nil, ErrNoKey
	}
	nonce := make([]byte, b.aead.NonceSize())
	_, _ = rand.Read(nonce) // never fails: crypto/rand crashes the program instead
	return b.aead.Seal(nonce, nonce, []byte(password), []byte(identity)), nil
}

// Open decrypts what Seal made for the same identity.
func (b *Box) Open(identity string, sealed []byte) (string, error) {
	if b == nil {
		return "", ErrNoKey
	}
	size := b.aead.NonceSize()
	if len(sealed) < size {
		return "", ErrWrongKey
	}
	password, err := b.aead.Open(nil, sealed[:size], sealed[size:], []byte(identity))
	if err != nil {
		return "", ErrWrongKey
	}
	return string(password), nil
}
