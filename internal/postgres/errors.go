package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// SQLSTATE codes that are decided on.
const (
	warnNotGranted = "01007"
	warnNotRevoked = "01006"

	codeUniqueViolation       = "23505"
	codeInvalidPassword       = "28P01"
	codeInvalidAuthorization  = "28000"
	codeNoSuchDatabase        = "3D000"
	codeSerializationFailure  = "40001"
	codeDeadlock              = "40P01"
	codeInsufficientPrivilege = "42501"
	codeDependent             = "2BP01"
	codeTooManyConnections    = "53300"
	codeLockTimeout           = "55P03"
	codeInternal              = "XX000"
)

// An Error is something a server refused, with what it said and what to do.
type Error struct {
	// Summary in one line, Advice in a sentence or two; Advice may be empty.
	Summary, Advice string
	Err             error
}

func (e *Error) Error() string {
	if e.Advice == "" {
		return e.Summary
	}
	return e.Summary + ". " + e.Advice
}

func (e *Error) Unwrap() error { return e.Err }

// An IneffectiveError is a GRANT or REVOKE that Postgres answered with a
// warning instead of doing it.
type IneffectiveError struct {
	Message    string
	Statements []Statement
}

func (e *IneffectiveError) Error() string {
	hint := ""
	if slices.ContainsFunc(e.Statements, func(s Statement) bool { return strings.Contains(string(s), `SCHEMA "public"`) }) {
		hint = "Before PostgreSQL 15 schema public belongs to who made the cluster: have them run ALTER SCHEMA public OWNER TO the provider's login. "
	}
	return fmt.Sprintf("Postgres did not do what it was asked, and only warned: %s. Nothing was changed. "+
		"The statements need the rights of the object's owner, or of whoever granted the privilege. %sThey were:\n%s",
		e.Message, hint, strings.Join(Texts(e.Statements), ";\n"))
}

// A LockError is a lock that was not had in time.
type LockError struct {
	Lock    Lock
	Timeout time.Duration
	Holders []string
	Err     error
}

func (e *LockError) Error() string {
	by := "No one holds it any more, so what was waited for is a lock on a table or a role that another session uses."
	if len(e.Holders) > 0 {
		by = "It is held by " + strings.Join(e.Holders, "; ") + "."
	}
	return fmt.Sprintf("waited %s for %s. %s Let the other one finish, or raise lock_timeout", e.Timeout, e.Lock.Name, by)
}

func (e *LockError) Unwrap() error { return e.Err }

// Retryable says whether the whole transaction is worth another try.
func Retryable(err error) bool {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return false
	}
	switch pg.Code {
	case codeSerializationFailure, codeDeadlock:
		return true
	case codeUniqueViolation:
		return pg.SchemaName == "pg_catalog"
	case codeInternal:
		return strings.Contains(pg.Message, "tuple concurrently")
	}
	return false
}

// IsDependent says whether something else depends on what was to go.
func IsDependent(err error) bool { return hasCode(err, codeDependent) }

// IsDenied says whether the login lacks a right that was needed.
func IsDenied(err error) bool { return hasCode(err, codeInsufficientPrivilege) }

func hasCode(err error, codes ...string) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && slices.Contains(codes, pg.Code)
}

// explain turns what a running statement was answered into an error that a
// person can act on. An interruption comes as whatever it cut short.
func explain(ctx context.Context, err error, database string) error {
	switch ended := ctx.Err(); {
	case errors.Is(ended, context.Canceled):
		return fmt.Errorf("interrupted, and rolled back: %w (%w)", ended, err)
	case ended != nil:
		return fmt.Errorf("not done in the time that was given, and rolled back: %w (%w)", ended, err)
	}
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return &Error{
			Summary: fmt.Sprintf("the connection to database %q was lost: %v", database, err),
			Advice:  "What was under way is rolled back; apply again",
			Err:     err,
		}
	}
	said := pg.Message
	for _, more := range []string{pg.Detail, pg.Hint} {
		if more != "" {
			said += " (" + more + ")"
		}
	}
	e := &Error{Summary: fmt.Sprintf("Postgres says: %s [%s]", said, pg.Code), Err: err}
	switch {
	case pg.Code == codeInsufficientPrivilege:
		e.Advice = "The provider's login must be a superuser, or have CREATEROLE and own the database"
	case strings.HasPrefix(pg.Code, "57P"):
		e.Advice = "The server is stopping or starting; apply again when it is up"
	case pg.Code == "25006":
		e.Advice = "The server is read-only, as a standby is: point url at the primary"
	}
	return e
}

// explainConnect turns a failed connection into one clear error.
func explainConnect(err error, c *Cluster, database string) error {
	e := &Error{Err: err}
	var pg *pgconn.PgError
	var network net.Error
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case hasCode(err, codeInvalidPassword):
		e.Summary = fmt.Sprintf("the password for login %q at %s is wrong", c.User(), c.address())
		e.Advice = "Set the provider's password, or the one in url"
	case hasCode(err, codeInvalidAuthorization):
		errors.As(err, &pg)
		e.Summary = fmt.Sprintf("login %q may not connect to database %q at %s: %s", c.User(), database, c.address(), pg.Message)
		e.Advice = "Check that the role exists, can log in, and that the server's pg_hba.conf lets it in from here"
	case hasCode(err, codeNoSuchDatabase):
		e.Summary = fmt.Sprintf("database %q does not exist at %s", database, c.address())
		e.Advice = "Create it, or name one that exists"
	case hasCode(err, codeInsufficientPrivilege):
		e.Summary = fmt.Sprintf("login %q has no CONNECT privilege on database %q at %s", c.User(), database, c.address())
		e.Advice = "The provider's login must be a superuser, or have CREATEROLE and own the database"
	case hasCode(err, codeTooManyConnections):
		e.Summary = fmt.Sprintf("the server at %s has no connection left", c.address())
		e.Advice = "Raise the server's max_connections, or lower the provider's and Terraform's -parallelism"
	case errors.As(err, &pg):
		e.Summary = fmt.Sprintf("the server at %s refuses the connection to database %q: %s [%s]", c.address(), database, pg.Message, pg.Code)
	case errors.Is(err, context.DeadlineExceeded) || (errors.As(err, &network) && network.Timeout()):
		e.Summary = fmt.Sprintf("the server at %s did not answer within %s", c.address(), c.base.ConnectTimeout)
		e.Advice = "Check url, that the server runs, and that no firewall is between; connect_timeout sets how long is waited"
	default:
		e.Summary = fmt.Sprintf("the server at %s cannot be reached: %s", c.address(), rootCause(err))
		e.Advice = "Check url, and that the server runs and listens there"
	}
	if !c.configured {
		e.Advice += ". Neither url nor DATATABLE_URL is set: this is where the PG* variables and their defaults lead"
	}
	return e
}

// rootCause leaves out the chain of wrappers, which repeats host and user. Of
// several attempts it tells each cause once.
func rootCause(err error) string {
	var several interface{ Unwrap() []error }
	if errors.As(err, &several) {
		var causes []string
		for _, one := range several.Unwrap() {
			if cause := rootCause(one); !slices.Contains(causes, cause) {
				causes = append(causes, cause)
			}
		}
		return strings.Join(causes, "; ")
	}
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err.Error()
		}
		err = next
	}
}
