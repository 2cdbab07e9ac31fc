package resolve

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestDirectoryRules(t *testing.T) {
	bob := Member{Username: "bob", Email: "bob@acme.test"}
	for _, tc := range []struct {
		name      string
		workspace Workspace
		want      []DirectoryError // field and key
	}{
		{"nothing at all", Workspace{}, nil},
		{"all in order", Workspace{
			Members: []Member{bob, {Username: "x@y", Email: "X@y"}},
			Groups:  map[string][]string{"emea": {"bob"}, "empty": nil},
			Folders: map[string][]string{"f": {"u/bob", "g/emea", "g/empty"}, "unread": nil},
		}, nil},
		{"no email", Workspace{Members: []Member{{Username: "a"}}}, []DirectoryError{{Field: "members", Key: "a"}}},
		{"no at sign", Workspace{Members: []Member{{Username: "a", Email: "acme"}}}, []DirectoryError{{Field: "members", Key: "a"}}},
		{"nothing before it", Workspace{Members: []Member{{Username: "a", Email: "@acme"}}}, []DirectoryError{{Field: "members", Key: "a"}}},
		{"nothing after it", Workspace{Members: []Member{{Username: "a", Email: "a@"}}}, []DirectoryError{{Field: "members", Key: "a"}}},
		{"two of them", Workspace{Members: []Member{{Username: "a", Email: "a@b@c"}}}, []DirectoryError{{Field: "members", Key: "a"}}},
		{"an email shared in another letter case", Workspace{Members: []Member{{Username: "z", Email: "BOB@acme.test"}, bob}}, []DirectoryError{{Field: "members", Key: "z"}}},
		{"a username that is another's email", Workspace{Members: []Member{bob, {Username: "Bob@acme.test", Email: "b@evil.test"}}}, []DirectoryError{{Field: "members", Key: "Bob@acme.test"}}},
		{"a username twice", Workspace{Members: []Member{bob, {Username: "bob", Email: "b@evil.test"}}}, []DirectoryError{{Field: "members", Key: "bob"}}},
		{"no username", Workspace{Members: []Member{{Email: "a@b"}}}, []DirectoryError{{Field: "members", Key: ""}}},
		{"a group of strangers", Workspace{Members: []Member{bob}, Groups: map[string][]string{"g": {"bob", "x", "x", "Bob"}}}, []DirectoryError{{Field: "groups", Key: "g"}, {Field: "groups", Key: "g"}}},
		{"a group without a name", Workspace{Groups: map[string][]string{"": nil}}, []DirectoryError{{Field: "groups", Key: ""}}},
		{"a folder without a name", Workspace{Folders: map[string][]string{"": nil}}, []DirectoryError{{Field: "folders", Key: ""}}},
		{"a folder's reader of no kind", Workspace{Members: []Member{bob}, Folders: map[string][]string{"f": {"bob"}}}, []DirectoryError{{Field: "folders", Key: "f"}}},
		{"a folder that a folder reads", Workspace{Folders: map[string][]string{"f": {"f/f"}}}, []DirectoryError{{Field: "folders", Key: "f"}}},
		{"a folder that everyone reads", Workspace{Folders: map[string][]string{"f": {"*"}}}, []DirectoryError{{Field: "folders", Key: "f"}}},
		{"a folder's nameless reader", Workspace{Folders: map[string][]string{"f": {"u/"}}}, []DirectoryError{{Field: "folders", Key: "f"}}},
		{"a folder's nameless group", Workspace{Groups: map[string][]string{"": nil}, Folders: map[string][]string{"f": {"g/"}}}, []DirectoryError{{Field: "groups", Key: ""}, {Field: "folders", Key: "f"}}},
		{"a folder's unknown user", Workspace{Folders: map[string][]string{"f": {"u/bob"}}}, []DirectoryError{{Field: "folders", Key: "f"}}},
		{"a folder's unknown group", Workspace{Members: []Member{bob}, Folders: map[string][]string{"f": {"g/bob"}}}, []DirectoryError{{Field: "folders", Key: "f"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []DirectoryError
			for _, err := range tc.workspace.Check() {
				var broken *DirectoryError
				if !errors.As(err, &broken) || broken.Reason == "" {
					t.Fatalf("%#v", err)
				}
				got = append(got, DirectoryError{Field: broken.Field, Key: broken.Key})
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// In a directory that breaks no rule everybody is found as themselves, by
// username and by email; in any other, nobody is ever found as someone else.
func TestNobodyIsTakenForAnother(t *testing.T) {
	word := rapid.SampledFrom([]string{"", "a", "A", "b", "a@x", "A@X", "b@x", "b@X"})
	members := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Member {
		return Member{Username: word.Draw(t, "username"), Email: word.Draw(t, "email")}
	}), 0, 4)
	rapid.Check(t, func(t *rapid.T) {
		w := Workspace{Name: "w", Members: members.Draw(t, "members")}
		d, broken := newDirectory(w), w.Check()
		for _, m := range w.Members {
			for _, user := range []string{m.Username, m.Email} {
				if user == "" {
					continue // never looked up
				}
				found, how := d.find("w", user)
				if broken == nil && (found == nil || found.username != m.Username) {
					t.Fatalf("%q of %+v is found as %+v: %s", user, m, found, how)
				}
				fits := 0
				for _, other := range w.Members {
					if other.Username == user || plausibleEmail(user) && foldEmail(other.Email) == foldEmail(user) {
						fits++
					}
				}
				if found != nil && fits != 1 {
					t.Fatalf("%q, which fits %d members, is found as %+v: %s", user, fits, found, how)
				}
			}
		}
	})
}
