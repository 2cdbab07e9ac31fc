package privilege

import (
	"flag"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A drawn server is cheap and has little on it: draw more than the usual 100,
// unless the command line says how many.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "2000"); err != nil {
		panic(err)
	}
	m.Run()
}

// same fails the test unless two sets have the same atoms.
func same(t *rapid.T, what string, want, got Set) {
	t.Helper()
	if diff := cmp.Diff(want.Sorted(), got.Sorted()); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

// Whatever is done to claims and, by hand, to the server: a change of a claim
// leaves what the claims want, and nothing is held that nobody wanted.
func TestEachChangeReachesWhatTheClaimsWantAndNoMore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := newServer(t)
		step := func(id string, prior, next *Claim) {
			others, before := s.others(id), s.actual.Union(nil)
			d := Between(prior, next, others, s.actual, s.inv)
			same(t, "granted though held", Set{}, d.Grant.Intersect(before))
			same(t, "revoked though not held", Set{}, d.Revoke.Minus(before))
			same(t, "revoked though another claim wants it", Set{}, d.Revoke.Intersect(others))
			same(t, "restored though it was not there", Set{}, d.Restore.Minus(before.Union(d.Grant)))
			s.apply(t, d)

			wanted, was := expand(next, s.inv), expand(prior, s.inv)
			same(t, "wanted and not held", Set{}, wanted.Minus(s.actual))
			same(t, "held though only the claim as it was wanted it", Set{}, was.Minus(wanted).Minus(others).Intersect(s.actual))
			// The option to grant a privilege that goes cannot stay.
			gone := before.Minus(s.actual).filter(func(a Atom) bool { return !a.Option || !d.Revoke.Has(a.base()) })
			same(t, "changed though the claim is not about it", Set{}, gone.Union(s.actual.Minus(before)).Minus(was.Union(wanted)))
			same(t, "a claim lost", Set{}, before.Intersect(others).Minus(s.actual))
			if again := Between(prior, next, others, s.actual, s.inv); !again.Empty() {
				t.Fatalf("a second time it is not done: %+v", again)
			}
			if again := Between(next, next, others, s.actual, s.inv); !again.Empty() {
				t.Fatalf("it is not what the claim wants: %+v", again)
			}
			if next == nil {
				delete(s.claims, id)
			} else {
				s.claims[id] = *next
			}
		}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			if rapid.IntRange(0, 2).Draw(t, "by hand") == 0 {
				s.changeByHand(t)
				continue
			}
			id, prior, next := s.change(t)
			step(id, prior, next)
			same(t, "held though neither a claim nor a hand gave it", Set{}, s.actual.Minus(s.others("")).Minus(s.byHand))
		}
		for id, c := range s.claims {
			step(id, &c, &c)
		}
		same(t, "wanted and not held once every claim was applied", Set{}, s.others("").Minus(s.actual))
		for id, c := range s.claims {
			step(id, &c, nil)
		}
		same(t, "held when no claim is left", Set{}, s.actual.Minus(s.byHand))
	})
}

// foresight draws a server and a change, and what a refresh saw of it, as a
// plan has it.
func foresight(t *rapid.T) (s *server, others Set, prior, next *Claim, seen Seen) {
	s = anyServer.Draw(t, "server")
	id, prior, next := s.change(t)
	others = s.others(id)
	if prior != nil {
		seen = stored(t, Look(*prior, others, s.actual, s.inv))
	}
	return s, others, prior, next, seen
}

// announces checks a plan against what apply does while nothing else changed:
// it shows all of it, and apart from what is held or kept for others no more.
func announces(t *rapid.T) {
	s, others, prior, next, seen := foresight(t)
	planned := Foresee(prior, next, seen)
	needed := Between(prior, next, others, s.actual, s.inv)
	if more := needed.Exceeds(planned.Settle(s.inv)); !more.Empty() {
		t.Fatalf("not announced: %+v\nplanned: %+v", more, planned)
	}
	same(t, "the grants of the plan, without what is held", needed.Grant, s.on(planned.Grant).Minus(s.actual).Minus(untold(prior, next, seen).Minus(needed.Grant)))
	same(t, "the revokes of the plan, without what others want, what is kept and what is not held",
		needed.Revoke, s.on(planned.Revoke).Minus(others).Minus(expand(next, s.inv)).Intersect(s.actual))
	same(t, "restored and not in the plan", Set{}, needed.Restore.Minus(s.on(planned.Restore)))
}

// untold are the privileges on sequences that a plan announces since it cannot
// tell which table of the claim as it was owns them: only where the claim is on
// other tables now.
func untold(prior, next *Claim, seen Seen) Set {
	if prior == nil || next == nil || len(prior.Atoms().filter(ofSerials).Minus(next.Atoms())) == 0 {
		return Set{}
	}
	return SetOf(seen.Missing...).filter(func(a Atom) bool {
		return a.Object.Type == Sequence && a.Object.Extent == One && prior.Type == Table && next.Type == Table &&
			a.Grantee == next.Grantee && a.Object.Schema == next.Schema
	})
}

func ofSerials(a Atom) bool { return a.Object.Extent == Owned }

func TestAPlanAnnouncesWhatApplyDoes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, announces)
}

func FuzzAPlanAnnouncesWhatApplyDoes(f *testing.F) { f.Fuzz(rapid.MakeFuzz(announces)) }

func TestAPlanRevokesNothingThatTheClaimKeeps(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, _, prior, next, seen := foresight(t)
		planned := Foresee(prior, next, seen)
		// As it is written. A function in another spelling, and a sequence by
		// its name in the place of its table's, a plan takes for another.
		written := Set{}
		if next != nil {
			written = next.Atoms()
		}
		same(t, "revoked and kept as it is written", Set{}, planned.Revoke.Intersect(written))
		revoked := planned.Revoke
		if prior != nil && next != nil && prior.Type != next.Type {
			revoked = revoked.filter(func(a Atom) bool { return a.Object.Type != Sequence })
		}
		revoked = s.on(revoked.filter(func(a Atom) bool { return a.Object.Type != Function || a.Object.Extent != One }))
		same(t, "revoked and kept", Set{}, revoked.Intersect(expand(next, s.inv)))
		same(t, "granted and revoked", Set{}, revoked.Intersect(s.on(planned.Grant)).Minus(untold(prior, next, seen)))
	})
}

func TestPlanningAgainGivesTheSameStatements(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := anyServer.Draw(t, "server")
		id, prior, next := s.change(t)
		others := s.others(id)
		var seen Seen
		if prior != nil {
			seen = Look(*prior, others, s.actual, s.inv)
		}
		plan := func(seen Seen) []Change { return Foresee(prior, next, seen).Changes(SetOf(seen.Shared...), s.wholes()) }
		want := plan(seen)
		for range 3 {
			if diff := cmp.Diff(want, plan(seen)); diff != "" {
				t.Fatalf("from what was seen (-first +then):\n%s", diff)
			}
			if prior != nil {
				again := Look(*prior, others.Union(nil), s.actual.Union(nil), s.inv)
				if diff := cmp.Diff(seen, again); diff != "" {
					t.Fatalf("looking again (-first +then):\n%s", diff)
				}
			}
		}
		if diff := cmp.Diff(want, plan(stored(t, seen))); diff != "" {
			t.Fatalf("from what was stored (-first +then):\n%s", diff)
		}
	})
}

func TestAPlanIsEmptyWhereNothingIsMissing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := anyServer.Draw(t, "server")
		c := anyClaim.Draw(t, "claim")
		s.apply(t, Between(nil, &c, s.others(""), s.actual, s.inv))
		seen := stored(t, Look(c, s.others(""), s.actual, s.inv))
		if len(c.Absent(s.inv)) > 0 {
			if len(seen.Missing) == 0 {
				t.Fatalf("%+v is not there, and nothing is missing", seen.Absent)
			}
			return
		}
		if len(seen.Missing) > 0 {
			t.Fatalf("missing right after apply: %+v", seen.Missing)
		}
		if planned := Foresee(&c, &c, seen); !planned.Empty() {
			t.Fatalf("an unchanged claim plans %+v", planned)
		}
	})
}

// What was revoked by hand, and what is not there, a plan grants again.
func TestAPlanGrantsWhatIsMissing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := anyServer.Draw(t, "server")
		c := anyClaim.Draw(t, "claim")
		seen := stored(t, Look(c, s.others(""), s.actual, s.inv))
		planned := Foresee(&c, &c, seen)
		same(t, "missing, and not announced", Set{}, SetOf(seen.Missing...).Minus(planned.Grant))
		same(t, "an unchanged claim revokes", Set{}, planned.Revoke)
		same(t, "an unchanged claim restores", Set{}, planned.Restore)
		changes := planned.Changes(SetOf(seen.Shared...), s.wholes())
		if missing := len(seen.Missing) > 0; missing == planned.Empty() || missing == (len(changes) == 0) {
			t.Fatalf("missing %+v, planned %+v, as %+v", seen.Missing, planned, changes)
		}
		// Of what there is nothing is missing that is held.
		same(t, "missing though held", Set{}, s.on(SetOf(seen.Missing...)).Intersect(s.actual))
		same(t, "not held, and not missing", c.Expand(s.inv).Minus(s.actual), s.on(SetOf(seen.Missing...)))
	})
}

func TestForeseen(t *testing.T) {
	t.Parallel()
	claim := func(privileges []string, objects ...string) *Claim {
		return &Claim{Grantee: "r", Type: Table, Schema: "s", Objects: objects, Whole: objects == nil, Privileges: privileges}
	}
	read, write, every := []string{"SELECT"}, []string{"SELECT", "INSERT"}, []string{All}
	usage := atoms("r", []string{"USAGE"}, schema("s"))
	held := atoms("r", []string{"SELECT"}, table("s", "x"), table("s", "y")).Union(usage)
	serial := atoms("r", []string{"USAGE"}, sequence("s", "x_seq"))
	columns := func(c *Claim, names ...string) *Claim {
		c.Columns = names
		return c
	}
	optional := func(c *Claim) *Claim {
		c.Option = true
		return c
	}
	to := func(grantee string, c *Claim) *Claim {
		c.Grantee = grantee
		return c
	}
	for name, test := range map[string]struct {
		prior, next *Claim
		actual      Set
		// as it is announced
		grant, revoke, restore Set
	}{
		"a new claim": {
			next: claim(read, "x"), grant: atoms("r", read, table("s", "x")).Union(usage),
		},
		"a claim that goes": {
			prior: claim(read, "x"), actual: held, revoke: atoms("r", read, table("s", "x")).Union(usage),
		},
		"a privilege more": {
			prior: claim(read), next: claim(write), actual: held, grant: atoms("r", []string{"INSERT"}, whole("s")).Union(atoms("r", []string{"USAGE"}, owned("s", ""))),
		},
		"a table more": {
			prior: claim(read, "x"), next: claim(read, "x", "y"), actual: held, grant: atoms("r", read, table("s", "y")),
		},
		"one table of all": {
			prior: claim(read), next: claim(read, "x"), actual: held, revoke: atoms("r", read, table("s", "y")),
		},
		"all tables in the place of one": {
			prior: claim(read, "x"), next: claim(read), actual: held, grant: atoms("r", read, whole("s")),
		},
		"one privilege of all": {
			prior: claim(every, "x"), next: claim(write, "x"), actual: held,
			grant:  atoms("r", []string{"INSERT"}, table("s", "x")).Union(serial), // they are missing
			revoke: atoms("r", []string{"UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"}, table("s", "x")),
		},
		"another grantee": {
			prior: claim(read), next: &Claim{Grantee: "q", Type: Table, Schema: "s", Whole: true, Privileges: read}, actual: held,
			grant:  atoms("q", read, whole("s")).Union(atoms("q", []string{"USAGE"}, schema("s"))),
			revoke: atoms("r", read, whole("s")).Union(usage),
		},
		"what was revoked by hand": {
			prior: claim(read), next: claim(read), actual: usage.Union(atoms("r", read, table("s", "y"))),
			grant: atoms("r", read, table("s", "x")),
		},
		"a table that is gone": {
			prior: claim(read, "x", "gone"), next: claim(read, "x", "gone"), actual: held,
			grant: atoms("r", read, table("s", "gone")),
		},
		"a table that is gone and no longer named": {
			prior: claim(read, "x", "gone"), next: claim(read, "x"), actual: held,
			revoke: atoms("r", read, table("s", "gone")),
		},
		"columns in the place of their table": {
			prior: claim(read, "x"), next: columns(claim(read, "x"), "c"), actual: held,
			grant: SetOf(column("r", "SELECT", "c", table("s", "x"))), revoke: atoms("r", read, table("s", "x")),
			restore: SetOf(column("r", "SELECT", "c", table("s", "x"))),
		},
		"a table in the place of its columns": {
			prior: columns(claim(read, "x"), "c"), next: claim(read, "x"), actual: SetOf(column("r", "SELECT", "c", table("s", "x"))).Union(usage),
			grant: atoms("r", read, table("s", "x")), revoke: SetOf(column("r", "SELECT", "c", table("s", "x"))),
		},
		"columns that something else was granted": {
			prior: claim(read, "x"), actual: held.Union(SetOf(column("r", "SELECT", "c", table("s", "x")), column("r", "SELECT", "c", table("s", "y")))),
			revoke: atoms("r", read, table("s", "x")).Union(usage), restore: SetOf(column("r", "SELECT", "c", table("s", "x"))),
		},
		"the option, no longer": {
			prior: optional(claim(read, "x")), next: claim(read, "x"),
			actual: options(held).Union(options(SetOf(column("r", "SELECT", "c", table("s", "x"))))),
			revoke: SetOf(option(atom("r", "SELECT", table("s", "x")))), restore: SetOf(option(column("r", "SELECT", "c", table("s", "x")))),
		},
		"the sequences of one table of all": {
			prior: claim(write), next: claim(write, "x"), actual: atoms("r", write, table("s", "x"), table("s", "y")).Union(usage).Union(serial),
			revoke: atoms("r", write, table("s", "y")).Union(atoms("r", []string{"USAGE"}, owned("s", "y"))),
		},
		"a sequence that lacks": {
			prior: claim(write, "x"), next: claim(write, "x", "y"), actual: atoms("r", write, table("s", "x")).Union(usage),
			grant: atoms("r", write, table("s", "y")).Union(serial).Union(atoms("r", []string{"USAGE"}, owned("s", "y"))),
		},
		"a sequence that lacks, to another grantee": {
			prior: claim(write, "x"), next: to("q", claim(write, "x")), actual: atoms("r", write, table("s", "x")).Union(usage),
			grant:  to("q", claim(write, "x")).Atoms(),
			revoke: claim(write, "x").Atoms(),
		},
		"later tables, no longer": {
			prior: &Claim{Grantee: "r", Type: Table, Schema: "s", Whole: true, Future: true, CreatedBy: []string{"m"}, Privileges: every}, next: claim(every),
			actual: held, grant: claim(every).Expand(shop(16)).Minus(held), revoke: atoms("r", every, later("s", "m")).Union(atoms("r", []string{"USAGE"}, laterSequence("s", "m"))),
		},
		"a function of all in another spelling": {
			prior: &Claim{Grantee: "r", Type: Function, Schema: "s", Whole: true, Privileges: every},
			next:  &Claim{Grantee: "r", Type: Function, Schema: "s", Objects: []string{"f(int)"}, Privileges: every}, actual: usage,
			grant: atoms("r", every, function("s", "f(int)")), revoke: atoms("r", []string{"EXECUTE"}, function("s", "f(integer)")),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen Seen
			if test.prior != nil {
				seen = Look(*test.prior, Set{}, test.actual, shop(16))
			}
			planned := Foresee(test.prior, test.next, seen)
			if diff := cmp.Diff(test.grant.Sorted(), planned.Grant.Sorted()); diff != "" {
				t.Errorf("grants (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.revoke.Sorted(), planned.Revoke.Sorted()); diff != "" {
				t.Errorf("revokes (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.restore.Sorted(), planned.Restore.Sorted()); diff != "" {
				t.Errorf("restored (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLookTellsWhatIsMissingAbsentAndShared(t *testing.T) {
	t.Parallel()
	read := []string{"SELECT"}
	usage := atom("r", "USAGE", schema("s"))
	gone := Claim{Grantee: "r", Type: Table, Schema: "gone", Whole: true, Privileges: []string{All}}
	for name, test := range map[string]struct {
		claim          Claim
		others, actual Set
		want           Seen
	}{
		"a whole schema": {
			claim:  Claim{Grantee: "r", Type: Table, Schema: "s", Whole: true, Privileges: read},
			others: SetOf(usage, atom("q", "SELECT", table("s", "x"))),
			actual: SetOf(usage, atom("r", "SELECT", table("s", "x"))),
			want: Seen{
				Version: 16, Objects: []string{"x", "y"}, Shared: []Atom{usage}, Columns: []Atom{},
				Missing: []Atom{atom("r", "SELECT", table("s", "y"))},
			},
		},
		"named tables": {
			claim:  Claim{Grantee: "r", Type: Table, Schema: "s", Objects: []string{"x", "gone"}, Privileges: read},
			actual: SetOf(usage, atom("r", "SELECT", table("s", "x"))),
			want: Seen{
				Version: 16, Absent: []Object{table("s", "gone")},
				Missing: []Atom{atom("r", "SELECT", table("s", "gone"))}, Shared: []Atom{}, Columns: []Atom{},
			},
		},
		"a schema that is gone": {
			claim: gone,
			want:  Seen{Version: 16, Absent: []Object{schema("gone")}, Missing: gone.Atoms().Sorted(), Shared: []Atom{}, Columns: []Atom{}},
		},
		"functions as they are written": {
			claim:  Claim{Grantee: "r", Type: Function, Schema: "s", Objects: []string{"f(int)"}, Privileges: []string{"EXECUTE"}},
			others: atoms("r", []string{"EXECUTE"}, function("s", "f(integer)")), actual: SetOf(usage),
			want: Seen{
				Version: 16, Missing: []Atom{atom("r", "EXECUTE", function("s", "f(int)"))}, Shared: []Atom{atom("r", "EXECUTE", function("s", "f(int)"))},
			},
		},
		"sequences of serial columns, by their table where all are shared": {
			claim:  Claim{Grantee: "r", Type: Table, Schema: "s", Objects: []string{"x"}, Privileges: []string{"INSERT"}},
			others: atoms("r", []string{"USAGE"}, sequence("s", "x_seq")), actual: SetOf(usage, atom("r", "INSERT", table("s", "x"))),
			want: Seen{
				Version: 16, Missing: []Atom{atom("r", "USAGE", sequence("s", "x_seq"))},
				Shared: []Atom{atom("r", "USAGE", sequence("s", "x_seq")), atom("r", "USAGE", owned("s", "x"))}, Columns: []Atom{},
			},
		},
		"sequences of serial columns that nothing else wants": {
			claim:  Claim{Grantee: "r", Type: Table, Schema: "s", Whole: true, Privileges: []string{"INSERT"}},
			others: SetOf(atom("r", "USAGE", sequence("s", "q"))),
			actual: atoms("r", []string{"INSERT"}, table("s", "x"), table("s", "y")).Union(SetOf(usage, atom("r", "USAGE", sequence("s", "x_seq")))),
			want:   Seen{Version: 16, Objects: []string{"x", "y"}, Missing: []Atom{}, Shared: []Atom{}, Columns: []Atom{}},
		},
		"columns of its tables": {
			claim: Claim{Grantee: "r", Type: Table, Schema: "s", Objects: []string{"x"}, Privileges: read},
			actual: SetOf(usage, atom("r", "SELECT", table("s", "x")), option(column("r", "SELECT", "c", table("s", "x"))), column("r", "UPDATE", "d", table("s", "x")),
				column("q", "SELECT", "c", table("s", "x")), column("r", "SELECT", "c", table("s", "y"))),
			want: Seen{
				Version: 16, Missing: []Atom{}, Shared: []Atom{},
				Columns: []Atom{option(column("r", "SELECT", "c", table("s", "x"))), column("r", "UPDATE", "d", table("s", "x"))},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, Look(test.claim, test.others, test.actual, shop(16))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// BenchmarkThousandTables is a refresh, a plan and an apply of one claim on
// every table of a schema, beside as many claims on one table each.
func BenchmarkThousandTables(b *testing.B) {
	const count = 1000
	inv := Inventory{Version: 17, Objects: map[Object]bool{database: true, schema("s"): true}}
	claim := Claim{Grantee: "r", Type: Table, Schema: "s", Whole: true, Privileges: []string{"SELECT", "INSERT", "UPDATE", "DELETE"}}
	next := claim
	next.Privileges = []string{"SELECT"}
	others := Set{}
	for i := range count {
		name := fmt.Sprintf("table_%d", i)
		inv.Objects[table("s", name)] = true
		others.Add(atom("r", "DELETE", table("s", name)))
	}
	actual := claim.Expand(inv).Union(others)
	seen := Look(claim, others, actual, inv)
	b.Run("Look", func(b *testing.B) {
		for b.Loop() {
			Look(claim, others, actual, inv)
		}
	})
	b.Run("Foresee", func(b *testing.B) {
		for b.Loop() {
			Foresee(&claim, &next, seen)
		}
	})
	b.Run("Between", func(b *testing.B) {
		for b.Loop() {
			Between(&claim, &next, others, actual, inv)
		}
	})
	b.Run("Changes", func(b *testing.B) {
		d := Between(&claim, &next, others, actual, inv)
		wholes := map[Object][]string{whole("s"): seen.Objects}
		for b.Loop() {
			d.Changes(nil, wholes)
		}
	})
}
