package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
)

// Config says how to reach a server.
type Config struct {
	// URL is a postgres:// URL or a keyword string. What it leaves out comes
	// from the PG* variables, the service file and the passfile.
	URL string
	// Password overrides the one of URL, where it is not empty.
	Password string
	// MaxConnections to the server, over all its databases; at least 2, since
	// a change of a data table needs one to the catalog and one to the data.
	MaxConnections int
	// ConnectTimeout and LockTimeout bound how long a connection, and a lock,
	// is waited for.
	ConnectTimeout, LockTimeout time.Duration
	// ApplicationName is what pg_stat_activity shows.
	ApplicationName string
}

const (
	// idleTime is how long an unused connection is kept.
	idleTime = 10 * time.Second
	// cancelTime is how long a cancelled statement may take to end.
	cancelTime = 5 * time.Second
)

// A Cluster is one Postgres server. It opens a connection when one is needed,
// shares it between those who follow, and never has more than
// Config.MaxConnections open. The zero value is of no use; see [NewCluster].
type Cluster struct {
	base        *pgx.ConnConfig
	configured  bool // by a URL, and not by the environment alone
	lockTimeout time.Duration

	slots chan struct{} // holds a token for each connection in use
	turns turns

	mu     sync.Mutex
	idle   []*conn // the longest unused first
	open   int     // connections, idle or not, those being made and ended included
	closed bool
}

type conn struct {
	*pgx.Conn
	database string
	notices  []*pgconn.Notice
	expiry   *time.Timer
}

// NewCluster reads the configuration; it does not connect. Its error is for
// the url, and repeats nothing of it, since that may hold a password.
func NewCluster(cfg Config) (*Cluster, error) {
	base, err := pgx.ParseConfig(cfg.URL)
	if err == nil && strings.Contains(base.Host, "@") {
		// The rest of a password with an @ in it, which must not be shown.
		return nil, errors.New("the host has an @ in it; write one in the password as %40, or give the password by itself")
	}
	if err != nil {
		return nil, errors.New("not a postgres:// URL or a keyword string that can be read; " +
			"what works looks like postgres://user@host:5432/database?sslmode=verify-full (its text is left out here, it may hold a password)")
	}
	if cfg.Password != "" {
		base.Password = cfg.Password
	}
	base.ConnectTimeout = cfg.ConnectTimeout
	base.DefaultQueryExecMode = pgx.QueryExecModeExec
	base.RuntimeParams["application_name"] = cfg.ApplicationName
	base.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: cancelTime}
	}
	if base.Database == "" {
		base.Database = base.User
	}
	return &Cluster{
		base:        base,
		configured:  cfg.URL != "",
		lockTimeout: cfg.LockTimeout,
		slots:       make(chan struct{}, max(cfg.MaxConnections, 2)),
	}, nil
}

// Database is the name of the database that the configuration names.
func (c *Cluster) Database() string { return c.base.Database }

// Host and port that the configuration names.
func (c *Cluster) Host() (host string, port int) { return c.base.Host, int(c.base.Port) }

// Password is that of the login that the configuration names.
func (c *Cluster) Password() string { return c.base.Password }

// User is the login that the configuration names.
func (c *Cluster) User() string { return c.base.User }

func (c *Cluster) address() string {
	return net.JoinHostPort(c.base.Host, strconv.Itoa(int(c.base.Port)))
}

// Close ends the connections that nobody uses; those in use end when given
// back.
func (c *Cluster) Close() {
	c.mu.Lock()
	idle := c.idle
	c.idle, c.closed = nil, true
	c.open -= len(idle)
	c.mu.Unlock()
	for _, conn := range idle {
		conn.expiry.Stop()
		closeNow(conn)
	}
}

func (c *Cluster) acquire(ctx context.Context, database string) (*conn, error) {
	select {
	case c.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	conn, evicted := c.reuse(database)
	if conn != nil {
		return conn, nil
	}
	if evicted != nil {
		closeNow(evicted)
	}
	conn, err := c.connect(ctx, database)
	if err != nil {
		c.gone()
		<-c.slots
		return nil, err
	}
	return conn, nil
}

// reuse takes an idle connection to the database. Where there is none it counts
// a new one, whose place is another idle one's when there is no more: the
// caller ends that one first. Who has a slot and no connection finds either.
func (c *Cluster) reuse(database string) (found, evicted *conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := len(c.idle) - 1; i >= 0; i-- {
		if conn := c.idle[i]; conn.database == database {
			c.idle = append(c.idle[:i], c.idle[i+1:]...)
			conn.expiry.Stop()
			return conn, nil
		}
	}
	if c.open < cap(c.slots) || len(c.idle) == 0 {
		c.open++
		return nil, nil
	}
	evicted = c.idle[0]
	evicted.expiry.Stop()
	c.idle = c.idle[1:]
	return nil, evicted
}

// gone counts a connection no more.
func (c *Cluster) gone() {
	c.mu.Lock()
	c.open--
	c.mu.Unlock()
}

func (c *Cluster) connect(ctx context.Context, database string) (*conn, error) {
	cfg := c.base.Copy()
	cfg.Database = database
	fresh := &conn{database: database}
	cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { fresh.notices = append(fresh.notices, n) }
	var err error
	if fresh.Conn, err = pgx.ConnectConfig(ctx, cfg); err != nil {
		return nil, explainConnect(err, c, database)
	}
	return fresh, nil
}

// release gives a connection back. One that is not between transactions is
// closed, whatever the reason.
func (c *Cluster) release(conn *conn) {
	defer func() { <-c.slots }()
	c.mu.Lock()
	keep := !c.closed && !conn.IsClosed() && conn.PgConn().TxStatus() == 'I'
	if keep {
		conn.notices = nil
		conn.expiry = time.AfterFunc(idleTime, func() { c.expire(conn) })
		c.idle = append(c.idle, conn)
	}
	c.mu.Unlock()
	if !keep {
		closeNow(conn)
		c.gone()
	}
}

// expire takes a slot, so that nobody counts on one while the connection ends.
func (c *Cluster) expire(old *conn) {
	c.slots <- struct{}{}
	defer func() { <-c.slots }()
	c.mu.Lock()
	found := false
	for i, conn := range c.idle {
		if conn == old {
			c.idle = append(c.idle[:i], c.idle[i+1:]...)
			found = true
			break
		}
	}
	c.mu.Unlock()
	if found {
		closeNow(old)
		c.gone()
	}
}

func closeNow(conn *conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = conn.Close(ctx) // there is nobody to tell, and the server notices
}

// turns lets those who want one advisory lock wait for it inside the process,
// before they take a connection to wait with.
type turns struct {
	mu    sync.Mutex
	queue map[string]chan struct{}
}

func (t *turns) take(ctx context.Context, name string) (done func(), err error) {
	t.mu.Lock()
	if t.queue == nil {
		t.queue = map[string]chan struct{}{}
	}
	turn, ok := t.queue[name]
	if !ok {
		turn = make(chan struct{}, 1)
		t.queue[name] = turn
	}
	t.mu.Unlock()
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting for a turn at %s: %w", name, ctx.Err())
	}
}
