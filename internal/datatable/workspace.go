package datatable

import (
	"context"

	"github.com/datatable-io/terraform-provider-datatable/internal/catalog"
	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
	"github.com/datatable-io/terraform-provider-datatable/internal/resolve"
)

// PutWorkspace writes a workspace's directory.
func (s *Service) PutWorkspace(ctx context.Context, w resolve.Workspace) error {
	return s.inCatalog(ctx, func(tx *postgres.Tx) error {
		return tx.Batch(ctx, catalog.PutWorkspace(w)...)
	})
}

// Workspace reads a workspace's directory.
func (s *Service) Workspace(ctx context.Context, name string) (resolve.Workspace, bool, error) {
	w, err := s.catalog(ctx)
	if err != nil {
		return resolve.Workspace{}, false, err
	}
	workspace, ok := w.Workspace(name)
	return workspace, ok, nil
}

// DeleteWorkspace removes a workspace. Data tables in it stay, and let in
// nobody who is looked up in it.
func (s *Service) DeleteWorkspace(ctx context.Context, name string) error {
	return s.inCatalog(ctx, func(tx *postgres.Tx) error {
		return tx.Batch(ctx, catalog.DeleteWorkspace(name))
	})
}
