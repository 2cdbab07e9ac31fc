package main

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/datatable-io/terraform-provider-datatable/internal/datatable"
	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
	"github.com/datatable-io/terraform-provider-datatable/internal/resolve"
)

// tables are the columns of what is read: schema and name.
var tables = [][2]string{{"public", "products"}, {"public", "orders"}, {"analytics", "revenue"}, {"company_data", "salaries"}}

const denied = "denied"

// A visit is a connection that somebody asks for, and what has to come of it.
type visit struct {
	identity, viewer, reference string
	roles                       []string
	read                        []string     // rows, or denied, by table
	refusal                     resolve.Code // instead of both
}

// The rows of schema.sql: 4 products; of 6 orders 3 are of emea, 2 of amer, 1 of
// nobody yet; 3 months of revenue; 2 salaries.
var visits = []visit{
	{"bob", "bob", "datatable", []string{"staff"}, []string{"4", "1", denied, denied}, ""},
	{"emma", "emma", "datatable", []string{"sales_emea", "staff"}, []string{"4", "4", denied, denied}, ""},
	{"carla", "carla", "datatable", []string{"sales_amer", "staff"}, []string{"4", "3", denied, denied}, ""},
	{"gina", "gina", "datatable", []string{"analyst", "sales_amer", "sales_emea", "staff"}, []string{"4", "6", "3", denied}, ""},
	{"anton", "anton", "datatable", []string{"analyst", "staff"}, []string{"4", "1", "3", denied}, ""},
	{"jobs", "emma", "datatable", []string{"sales_emea", "staff"}, []string{"4", "4", denied, denied}, ""},
	{"jobs", "", "datatable", []string{"staff"}, []string{"4", "1", denied, denied}, ""},
	{"gina", "gina", "main?role=analyst", []string{"analyst"}, []string{"4", denied, "3", denied}, ""},
	{"alice", "alice", "datatable", []string{"staff"}, []string{"4", "1", denied, denied}, ""},
	{"alice", "alice", "main?role=company", []string{"company"}, []string{"4", denied, denied, "2"}, ""},
	{"alice", "alice", "main?role=admin", []string{"admin"}, []string{"4", "6", "3", "2"}, ""},
	{"bob", "bob", "main?role=company", nil, nil, resolve.CodeNotATenant},
	{"jobs", "emma", "main?role=sales_emea", nil, nil, resolve.CodeNotATenant},
	{"mallory", "alice", "datatable", nil, nil, resolve.CodeNotAMember},
}

// showLogins makes each visit and prints what it reads.
func (d *demo) showLogins(ctx context.Context) error {
	s, err := datatable.New(datatable.Options{
		Postgres: postgres.Config{
			URL: d.db.url(), MaxConnections: 2, ConnectTimeout: 15 * time.Second, LockTimeout: time.Minute,
			ApplicationName: "datatable-demo",
		},
		EncryptionKey: d.key,
	})
	if err != nil {
		return err
	}
	defer s.Close()

	w := tabwriter.NewWriter(d.out, 0, 0, 2, ' ', 0)
	line := func(cells ...string) { _, _ = fmt.Fprintln(w, strings.Join(cells, "\t")) }
	schemas, names := []string{"", "", "", "", ""}, []string{"IDENTITY", "VIEWER", "REFERENCE", "LOGIN", "ROLES HELD"}
	for _, table := range tables {
		schemas, names = append(schemas, table[0]), append(names, table[1])
	}
	line(schemas...)
	line(names...)
	var wrong []string
	for _, v := range visits {
		got, login, err := d.make(ctx, s, v)
		if err != nil {
			return fmt.Errorf("identity %q, viewer %q, %s: %w", v.identity, v.viewer, v.reference, err)
		}
		if got.refusal != "" {
			line(v.identity, orDash(v.viewer), v.reference, "refused: "+string(got.refusal))
		} else {
			line(append([]string{v.identity, orDash(v.viewer), v.reference, short(login), strings.Join(got.roles, ", ")}, got.read...)...)
		}
		if diff := cmp.Diff(v, got, cmp.AllowUnexported(visit{})); diff != "" {
			wrong = append(wrong, diff)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(wrong) > 0 {
		return fmt.Errorf("it is not what the configuration says (-want +got):\n%s", strings.Join(wrong, "\n"))
	}
	d.say("")
	d.say("Who holds several roles has the login of that set, whoever else has it too.")
	d.say("A reference that names a role is judged by the identity alone, and holds that role alone.")
	d.say("An admin holds no more than others, but may name every role, and admin: the owner.")
	return nil
}

// make opens the connection of a visit and reads every table through it. It
// returns what came of it, in the place of what has to.
func (d *demo) make(ctx context.Context, s *datatable.Service, v visit) (got visit, login string, err error) {
	got = visit{identity: v.identity, viewer: v.viewer, reference: v.reference}
	reference, err := resolve.ParseReference(v.reference)
	if err != nil {
		return got, "", err
	}
	request := resolve.Request{Workspace: "acme", Reference: reference, Identity: resolve.Person{User: v.identity}}
	if v.viewer != "" {
		request.Viewer = &resolve.Person{User: v.viewer}
	}
	decision, err := s.Resolve(ctx, request)
	if err != nil {
		return got, "", err
	}
	if decision.Refusal != nil {
		got.refusal = decision.Refusal.Code
		return got, "", nil
	}
	got.roles = decision.Roles
	credentials, err := s.Open(ctx, request)
	if err != nil {
		return got, "", err
	}
	got.read, err = d.read(ctx, credentials)
	return got, credentials.Username, err
}

// read counts the rows that a login sees of each table.
func (d *demo) read(ctx context.Context, c datatable.Credentials) (counts []string, err error) {
	// The server's own settings for TLS, with the login's name and password.
	config, err := pgx.ParseConfig(d.db.url())
	if err != nil {
		return nil, err
	}
	config.User, config.Password, config.Database = c.Username, c.Password, c.Database
	if at := net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port))); at != net.JoinHostPort(c.Host, strconv.Itoa(c.Port)) {
		return nil, fmt.Errorf("the connection leads to %s:%d, and the server is at %s", c.Host, c.Port, at)
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()

	for _, table := range tables {
		var rows int
		err := conn.QueryRow(ctx, "SELECT count(*) FROM "+pgx.Identifier(table[:]).Sanitize()).Scan(&rows)
		switch {
		case err == nil:
			counts = append(counts, strconv.Itoa(rows))
		case sqlState(err) == permissionDenied:
			counts = append(counts, denied)
		default:
			return nil, fmt.Errorf("as %s: read %s: %w", c.Username, table[1], err)
		}
	}
	return counts, nil
}

// short leaves of a set login what tells it from others here.
func short(login string) string {
	const prefix, digits = "wm_set_", 6
	if hash, ok := strings.CutPrefix(login, prefix); ok && len(hash) > digits {
		return prefix + hash[:digits] + "…"
	}
	return login
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
