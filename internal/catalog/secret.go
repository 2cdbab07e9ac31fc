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

// The arguments that keys are given by.
const (
	keyArgument         = "encryption_key"
	previousKeyArgument = "previous_encryption_key"
)

// HowToMakeAKey is said wherever an encryption key is missing or of no use.
const HowToMakeAKey = "Make one with `openssl rand -base64 32`, keep it where you keep secrets, and pass it in " +
	"as encryption_key or DATATABLE_ENCRYPTION_KEY"

// howToRotate is said wherever a previous key is of no use.
const howToRotate = "To change the key, give the new one as encryption_key and the one that the catalog's passwords are under as " +
	"previous_encryption_key or DATATABLE_PREVIOUS_ENCRYPTION_KEY, apply once, and take the previous one out"

// ErrNoKey is returned where a password has to be sealed or opened and no
// encryption key is configured.
var ErrNoKey = errors.New("encryption_key is not set. It encrypts the passwords of logins in the catalog. " + HowToMakeAKey)

// ErrOnlyPreviousKey is returned where a previous key is configured without one
// that comes after it.
var ErrOnlyPreviousKey = errors.New("previous_encryption_key is set and encryption_key is not. " + howToRotate)

// ErrWrongKey is returned where a password was sealed under another key.
var ErrWrongKey = errors.New("encryption_key is not the key that the catalog's passwords were encrypted with, or the row was changed by hand. " +
	"Configure the key that they were encrypted with. " + howToRotate)

// ErrNeitherKey is [ErrWrongKey] while keys are changed.
var ErrNeitherKey = errors.New("neither encryption_key nor previous_encryption_key is the key that the catalog's passwords were encrypted with, or the row was changed by hand. " +
	"Nothing was changed. " + howToRotate)

// ErrSwappedRow is returned where a row's password was sealed for another row,
// or is no sealed password at all.
var ErrSwappedRow = errors.New("what the catalog has as its password was not encrypted for it: the row was changed by hand, and is not used. Put back what was there")

// A Box seals passwords with AES-256-GCM. What a password is for goes in as
// associated data, so that a row copied onto another does not open. The nil
// Box has no key, and every use of it is ErrNoKey.
type Box struct {
	aead cipher.AEAD
	// previous opens what is not resealed yet. It is nil outside of a rotation.
	previous *Box
}

// NewBox makes a box from the base64 of 32 bytes. The error does not repeat
// the key.
func NewBox(key string) (*Box, error) { return parseKey(keyArgument, key, HowToMakeAKey) }

// Rotating is a box that seals under the same key, and also opens what was
// sealed under a previous one. The error does not repeat the key.
func (b *Box) Rotating(previousKey string) (*Box, error) {
	if b == nil {
		return nil, ErrOnlyPreviousKey
	}
	previous, err := parseKey(previousKeyArgument, previousKey, howToRotate)
	if err != nil {
		return nil, err
	}
	probe, err := b.Seal("", "")
	if err != nil {
		return nil, err
	}
	if _, err := previous.Open("", probe); err == nil {
		return nil, errors.New("previous_encryption_key is the same key as encryption_key. " + howToRotate)
	}
	return &Box{aead: b.aead, previous: previous}, nil
}

// Previous is the box of the previous key, nil outside of a rotation.
func (b *Box) Previous() *Box {
	if b == nil {
		return nil
	}
	return b.previous
}

func parseKey(argument, key, help string) (*Box, error) {
	raw, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		return nil, errors.New(argument + " is not base64 (standard alphabet, with padding). " + help)
	}
	if len(raw) != keyBytes {
		return nil, fmt.Errorf("%s has %d bytes and needs %d. %s", argument, len(raw), keyBytes, help)
	}
	block, err := aes.NewCipher(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", argument, err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", argument, err)
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

// Open decrypts what Seal made for the same identity, under this key or the
// previous one.
func (b *Box) Open(identity string, sealed []byte) (string, error) {
	password, _, err := b.open(identity, sealed)
	return password, err
}

// Behind says whether a password is under the previous key.
func (b *Box) Behind(identity string, sealed []byte) (bool, error) {
	_, behind, err := b.open(identity, sealed)
	return behind, err
}

// Reseal brings a password under the box's own key; moved is false where it is
// so already.
func (b *Box) Reseal(identity string, sealed []byte) (again []byte, moved bool, err error) {
	password, behind, err := b.open(identity, sealed)
	if err != nil || !behind {
		return sealed, false, err
	}
	again, err = b.Seal(identity, password)
	return again, true, err
}

func (b *Box) open(identity string, sealed []byte) (password string, behind bool, err error) {
	if b == nil {
		return "", false, ErrNoKey
	}
	size := b.aead.NonceSize()
	if len(sealed) >= size {
		plain, err := b.aead.Open(nil, sealed[:size], sealed[size:], []byte(identity))
		if err == nil {
			return string(plain), false, nil
		}
	}
	if b.previous == nil {
		return "", false, ErrWrongKey
	}
	if password, _, err = b.previous.open(identity, sealed); err != nil {
		return "", false, ErrNeitherKey
	}
	return password, true, nil
}
