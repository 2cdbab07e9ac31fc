package resolve

import (
	"regexp"
	"testing"

	"pgregory.net/rapid"
)

// Logins stand in databases: a changed hash would orphan every one of them.
func TestLoginsAreStable(t *testing.T) {
	for _, tc := range []struct{ got, want string }{
		{SetLogin("instance", []string{"a", "b"}), "wm_set_316ec511f539e90563f13d5a91f81326"},
		{UserLogin("w1", "bob@acme.test"), "wm_u_5bab42c9c7b1e96c5ea0fa6ac6be06cb"},
		{GroupLogin("w1", "emea"), "wm_g_5751f7ecb55ef9b8db8efb9eecba2a5f"},
	} {
		if tc.got != tc.want {
			t.Errorf("login is %s, was %s", tc.got, tc.want)
		}
	}
}

func TestLoginsHaveTheirForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		for prefix, login := range map[string]string{
			"wm_set_": SetLogin(a, []string{b}), "wm_u_": UserLogin(a, b), "wm_g_": GroupLogin(a, b),
		} {
			if !regexp.MustCompile("^" + prefix + "[0-9a-f]{32}$").MatchString(login) {
				t.Errorf("%q of %q and %q", login, a, b)
			}
		}
	})
}

func TestSetLoginIsThatOfASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOf(rapid.String()).Draw(t, "ids")
		again := rapid.Permutation(append(ids, ids...)).Draw(t, "shuffled and repeated")
		before := append([]string{}, ids...)
		if SetLogin("c", ids) != SetLogin("c", again) {
			t.Errorf("%q and %q differ", ids, again)
		}
		for i := range ids {
			if ids[i] != before[i] {
				t.Fatalf("the argument was sorted in place: %q", ids)
			}
		}
	})
}

func TestLoginsDiffer(t *testing.T) {
	logins := map[string]string{}
	for what, login := range map[string]string{
		"a set":                     SetLogin("c", []string{"1", "2"}),
		"a smaller set":             SetLogin("c", []string{"1"}),
		"ids run together":          SetLogin("c", []string{"12"}),
		"cluster and id shifted":    SetLogin("c1", []string{"2"}),
		"another cluster":           SetLogin("d", []string{"1", "2"}),
		"a person":                  UserLogin("w1", "bob@acme.test"),
		"elsewhere":                 UserLogin("w2", "bob@acme.test"),
		"workspace and email shift": UserLogin("w1b", "ob@acme.test"),
		"a group":                   GroupLogin("w1", "emea"),
		"a group elsewhere":         GroupLogin("w2", "emea"),
		"a group in another case":   GroupLogin("w1", "EMEA"),
	} {
		if other, taken := logins[login]; taken {
			t.Errorf("%s and %s share %s", what, other, login)
		}
		logins[login] = what
	}
	if UserLogin("w1", "BOB@acme.test") != UserLogin("w1", "bob@ACME.test") {
		t.Error("an email's letter case tells logins apart")
	}
}
