package resolve

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// DirectoryError is one broken rule of a workspace's directory.
type DirectoryError struct {
	Field  string // "members", "groups" or "folders"
	Key    string // username, group or folder
	Reason string
}

func (e *DirectoryError) Error() string {
	return fmt.Sprintf("%s[%q]: %s", e.Field, e.Key, e.Reason)
}

// Check lists every broken rule of the directory, each a *DirectoryError, in
// the order of field and key. What it refuses, resolving treats as nobody.
func (w Workspace) Check() []error {
	c := directoryCheck{usernames: map[string]bool{}, emails: map[string]string{}}
	c.members(w.Members)
	for _, group := range slices.Sorted(maps.Keys(w.Groups)) {
		c.group(group, w.Groups[group])
	}
	for _, folder := range slices.Sorted(maps.Keys(w.Folders)) {
		c.folder(folder, w.Folders[folder], w.Groups)
	}
	return c.errors
}

type directoryCheck struct {
	usernames map[string]bool
	emails    map[string]string // folded email → username of the first who has it
	errors    []error
}

func (c *directoryCheck) fail(field, key, format string, args ...any) {
	c.errors = append(c.errors, &DirectoryError{Field: field, Key: key, Reason: fmt.Sprintf(format, args...)})
}

func (c *directoryCheck) members(members []Member) {
	sorted := slices.SortedFunc(slices.Values(members), func(a, b Member) int {
		return strings.Compare(a.Username+"\x00"+a.Email, b.Username+"\x00"+b.Email)
	})
	// Whose an email is has to be known before the first username is compared.
	for _, m := range sorted {
		if email := foldEmail(m.Email); c.emails[email] == "" {
			c.emails[email] = m.Username
		}
	}
	for _, m := range sorted {
		if m.Username == "" {
			c.fail("members", "", "the username is empty: give the member with email %q one", m.Email)
			continue
		}
		if c.usernames[m.Username] {
			c.fail("members", m.Username, "the username is given twice: give each member their own")
		}
		c.usernames[m.Username] = true
		if !plausibleEmail(m.Email) {
			c.fail("members", m.Username, "%q is no email: write it with one @ and something either side", m.Email)
		} else if first := c.emails[foldEmail(m.Email)]; first != m.Username {
			c.fail("members", m.Username, "the email %q is also that of %q, and letter case does not tell them apart: give each member their own", m.Email, first)
		}
		if owner := c.emails[foldEmail(m.Username)]; owner != "" && owner != m.Username {
			c.fail("members", m.Username, "the username is the email of %q, who would be taken for this member: choose another username", owner)
		}
	}
}

func (c *directoryCheck) group(group string, usernames []string) {
	if group == "" {
		c.fail("groups", group, "the group's name is empty: give it one")
	}
	for _, username := range sortedSet(usernames) {
		if !c.usernames[username] {
			c.fail("groups", group, "%q is no member of the workspace: add them to members, or take them out of the group", username)
		}
	}
}

func (c *directoryCheck) folder(folder string, readers []string, groups map[string][]string) {
	if folder == "" {
		c.fail("folders", folder, "the folder's name is empty: give it one")
	}
	for _, reader := range sortedSet(readers) {
		kind, name, _ := strings.Cut(reader, "/")
		_, isGroup := groups[name]
		switch {
		case kind != "u" && kind != "g" || name == "":
			c.fail("folders", folder, "%q is neither u/<username> nor g/<group>: write one of them", reader)
		case kind == "u" && !c.usernames[name]:
			c.fail("folders", folder, "%q names no member of the workspace: add %q to members, or take it out", reader, name)
		case kind == "g" && !isGroup:
			c.fail("folders", folder, "%q names no group of the workspace: add %q to groups, or take it out", reader, name)
		}
	}
}

// sortedSet gives a sorted copy of names without repetitions.
func sortedSet(names []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(names)))
}
