package datatable

import (
	"context"
	"errors"
	"fmt"

	"github.com/datatable-io/terraform-provider-datatable/internal/catalog"
	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
)

// Keys are the base64 of the key that passwords are sealed under, and of the one
// before it; each may be empty.
type Keys struct{ Current, Previous string }

// box is nil where there is no key. An error repeats no key.
func (k Keys) box() (*catalog.Box, error) {
	var box *catalog.Box
	if k.Current != "" {
		var err error
		if box, err = catalog.NewBox(k.Current); err != nil {
			return nil, err
		}
	}
	if k.Previous == "" {
		return box, nil
	}
	return box.Rotating(k.Previous)
}

// CheckKeys refuses keys that cannot work, as far as the keys alone tell. The
// error is about argument.
func CheckKeys(k Keys) (argument string, err error) {
	if _, err := (Keys{Current: k.Current}).box(); err != nil {
		return "encryption_key", err
	}
	if k.Current == "" {
		return "", nil // it may come from elsewhere
	}
	if _, err := k.box(); err != nil {
		return "previous_encryption_key", err
	}
	return "", nil
}

// keyring is the box, or why there is none.
func (s *Service) keyring() (*catalog.Box, error) {
	switch {
	case s.boxErr != nil:
		return nil, s.boxErr
	case s.box == nil:
		return nil, catalog.ErrNoKey
	}
	return s.box, nil
}

// NeedsKey is the error that making a login will meet for want of a key, or
// nil. Missing says that there is no key at all, as when only apply has one.
func (s *Service) NeedsKey() (missing bool, err error) {
	_, err = s.keyring()
	return errors.Is(err, catalog.ErrNoKey), err
}

// rightKey refuses a key that the passwords in the catalog are not under: with
// two keys, neither would open all. Of a rotation's two keys it returns the one
// that they are under, to seal what is new.
func rightKey(box *catalog.Box, rows []catalog.SealedRow) (*catalog.Box, error) {
	var wrong error
	for _, row := range rows {
		behind, err := box.Behind(row.Identity, row.Sealed)
		switch {
		case err != nil: // the other rows tell whether it is the key or this row
			wrong = err
		case behind:
			return box.Previous(), nil
		default:
			return box, nil
		}
	}
	return box, wrong
}

// lockedKey is [rightKey] by what the catalog has now. The catalog's lock is
// held.
func lockedKey(ctx context.Context, tx *postgres.Tx, box *catalog.Box) (*catalog.Box, error) {
	rows, err := sealedRows(ctx, tx)
	if err != nil {
		return nil, err
	}
	return rightKey(box, rows)
}

func sealedRows(ctx context.Context, tx *postgres.Tx) (rows []catalog.SealedRow, err error) {
	err = tx.Batch(ctx, catalog.SealedRows(func(row catalog.SealedRow) { rows = append(rows, row) })...)
	return rows, err
}

// rekey brings every password of the catalog under the new key of a rotation,
// in the caller's transaction, so that at no time two keys are in use. The
// passwords themselves stay. It does nothing outside of a rotation. The catalog's
// lock is held.
func (s *Service) rekey(ctx context.Context, tx *postgres.Tx) error {
	if s.box.Previous() == nil {
		return nil
	}
	rows, err := sealedRows(ctx, tx)
	if err != nil {
		return err
	}
	if _, err := rightKey(s.box, rows); err != nil {
		return err
	}
	var moved []catalog.SealedRow
	for _, row := range rows {
		again, ok, err := s.box.Reseal(row.Identity, row.Sealed)
		if err != nil {
			return &shutError{login: row.Login, err: catalog.ErrSwappedRow}
		}
		if ok {
			row.Sealed = again
			moved = append(moved, row)
		}
	}
	return tx.Batch(ctx, catalog.Reseal(moved)...)
}

// behind says whether the password of a role is under the previous key of a
// rotation. While one is going on, a key of no use is an error: nobody must
// think that it is done.
func (s *Service) behind(ctx context.Context, id string) (bool, error) {
	if s.boxErr != nil && s.rotating {
		return false, s.boxErr
	}
	if s.box.Previous() == nil {
		return false, nil
	}
	w, err := s.catalog(ctx)
	if err != nil {
		return false, err
	}
	r, ok := w.RoleByID(id)
	if !ok || len(r.Sealed) == 0 {
		return false, nil
	}
	behind, err := s.box.Behind(r.ID, r.Sealed)
	if err != nil {
		err = w.whyShut(s.box, r, err)
	}
	return behind, err
}

// whyShut tells a wrong key from a row that was changed.
func (w *world) whyShut(box *catalog.Box, r catalog.Role, err error) error {
	if _, wrong := rightKey(box, w.SealedRoles()); wrong == nil {
		err = catalog.ErrSwappedRow
	}
	return &shutError{login: r.Name, err: err}
}

// A shutError is a password that does not open.
type shutError struct {
	login string
	err   error
}

func (e *shutError) Error() string {
	return fmt.Sprintf("the password of login %q: %v", e.login, e.err)
}

func (e *shutError) Unwrap() error { return e.err }
