package datatable

import (
	"context"
	"sync"

	"github.com/datatable-io/terraform-provider-datatable/internal/catalog"
	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
	"github.com/datatable-io/terraform-provider-datatable/internal/resolve"
)

// clusterName is part of what a set login's name is hashed from.
const clusterName = "instance"

// The two locks. Numbers are arbitrary and must never change: two versions of
// the provider have to mean the same lock.
var (
	catalogLock = postgres.Lock{Key: 0x64617461_00000001, Table: postgres.TableName{Schema: "datatable_catalog", Name: "migration"}, Name: "the lock on the catalog's roles and data tables"}
	ledgerLock  = postgres.Lock{Key: 0x64617461_00000002, Table: postgres.TableName{Schema: "datatable_ledger", Name: "migration"}, Name: "the lock on the database's grants and policies"}
)

// Options say how a [Service] reaches its server.
type Options struct {
	Postgres postgres.Config
	// EncryptionKey is base64 of 32 bytes, or empty.
	EncryptionKey string
	// PreviousEncryptionKey is the one before, while keys are changed.
	PreviousEncryptionKey string
}

// A Service does what resources declare. It opens connections when they are
// first needed. Reads are shared: one look at the catalog and one at each
// database serve every resource until something is written.
type Service struct {
	cluster *postgres.Cluster
	box     *catalog.Box
	boxErr  error
	// rotating says that a previous key is given.
	rotating bool

	world shared[world]

	quiet quiet

	mu     sync.Mutex
	states map[string]*shared[state]
	ready  map[string]bool // stores that are known to be of this version
}

// world is the catalog, and who connects as what by it.
type world struct {
	*catalog.Snapshot
	index *resolve.Index
}

// ownerOf is the owner of a database that a data table is.
func (w *world) ownerOf(database string) string {
	for _, d := range w.Datatables {
		if d.Database == database {
			return d.Owner
		}
	}
	return ""
}

// New makes a service. It does not connect; its error is about the options. A
// bad encryption key is reported when it is first needed.
func New(o Options) (*Service, error) {
	cluster, err := postgres.NewCluster(o.Postgres)
	if err != nil {
		return nil, &InputError{Field: "url", Message: err.Error()}
	}
	s := &Service{cluster: cluster, quiet: newQuiet(), states: map[string]*shared[state]{}, ready: map[string]bool{}}
	s.box, s.boxErr = Keys{Current: o.EncryptionKey, Previous: o.PreviousEncryptionKey}.box()
	s.rotating = o.PreviousEncryptionKey != ""
	return s, nil
}

// Close ends the connections.
func (s *Service) Close() { s.cluster.Close() }

// shared is a value that is read once and given to all who ask until it is
// dropped.
type shared[T any] struct {
	mu    sync.Mutex
	value *T
}

func (c *shared[T]) get(read func() (*T, error)) (*T, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.value != nil {
		return c.value, nil
	}
	value, err := read()
	if err == nil {
		c.value = value
	}
	return value, err
}

func (c *shared[T]) drop() {
	c.mu.Lock()
	c.value = nil
	c.mu.Unlock()
}

func (s *Service) catalog(ctx context.Context) (*world, error) {
	return s.world.get(func() (*world, error) {
		w := &world{}
		err := s.cluster.Read(ctx, s.cluster.Database(), func(tx *postgres.Tx) (err error) {
			w.Snapshot, err = catalog.Load(ctx, tx)
			return err
		})
		if err != nil {
			return nil, err
		}
		w.index = resolve.NewIndex(w.Resolvable(clusterName))
		return w, nil
	})
}

// datatable finds a data table and the database that it is.
func (s *Service) datatable(ctx context.Context, key resolve.Key) (catalog.Datatable, error) {
	w, err := s.catalog(ctx)
	if err != nil {
		return catalog.Datatable{}, err
	}
	d, ok := w.Datatable(key)
	if !ok {
		return d, unknownDatatable(key)
	}
	return d, nil
}

// Database returns the name of the database that a data table is, and its
// owner; both are empty where there is no such data table or database. The
// name never changes while the data table exists.
func (s *Service) Database(ctx context.Context, key resolve.Key) (database, owner string) {
	d, err := s.datatable(ctx, key)
	if err != nil || d.Owner == "" {
		return "", ""
	}
	return d.Database, d.Owner
}

// roleIDs gives the ids of the catalog's roles by name.
func (s *Service) roleIDs(ctx context.Context) (map[string]string, error) {
	w, err := s.catalog(ctx)
	if err != nil {
		return nil, err
	}
	ids := make(map[string]string, len(w.Roles))
	for _, r := range w.Roles {
		ids[r.Name] = r.ID
	}
	return ids, nil
}

func (s *Service) sharedState(database string) *shared[state] {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.states[database] == nil {
		s.states[database] = &shared[state]{}
	}
	return s.states[database]
}

// inCatalog changes the catalog and the roles of the cluster. What was read of
// any database names roles, so all of it is read anew afterwards.
func (s *Service) inCatalog(ctx context.Context, fn func(*postgres.Tx) error) error {
	drop := func() {
		s.mu.Lock()
		s.states = map[string]*shared[state]{}
		s.mu.Unlock()
		s.world.drop()
	}
	return s.write(ctx, s.cluster.Database(), catalogLock, catalog.Catalog, drop, fn)
}

// inLedger changes a data table's database. Where the catalog's lock is needed
// too, it is taken before.
func (s *Service) inLedger(ctx context.Context, database string, fn func(*postgres.Tx) error) error {
	return s.write(ctx, database, ledgerLock, catalog.Ledger, s.sharedState(database).drop, fn)
}

func (s *Service) write(ctx context.Context, database string, lock postgres.Lock, store catalog.Store, drop func(), fn func(*postgres.Tx) error) error {
	name := database + " " + lock.Name
	// What was read before is stale whether or not the commit was heard of.
	defer drop()
	err := s.cluster.Do(ctx, database, lock, func(tx *postgres.Tx) error {
		if !s.isReady(name) {
			if err := store.Migrate(ctx, tx); err != nil {
				return err
			}
		}
		return fn(tx)
	})
	if err == nil {
		s.mu.Lock()
		s.ready[name] = true
		s.mu.Unlock()
	}
	return err
}

func (s *Service) isReady(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ready[name]
}
