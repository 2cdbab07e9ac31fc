package resolve

import (
	"fmt"
	"slices"
	"strings"
)

// Person is somebody an argument names. User is a username or an email and is
// looked up in the directory; an Email beside it must then be theirs. With
// SpelledOut all fields are taken as they are, instead of the directory.
// Without a User it is nobody.
type Person struct {
	User, Email     string
	Groups, Folders []string // read only with SpelledOut
	Admin           bool     // of the governing workspace; read only with SpelledOut
	SpelledOut      bool
}

// directory is a workspace's people, by what they can be asked for.
type directory struct {
	id         string
	flaw       string
	byUsername map[string]*member
	byEmail    map[string]*member // folded; only plausible ones, or the emailless would be one person
}

// member is a person as tenant lists see them.
type member struct {
	username string
	email    string // folded; empty where it is not plausible
	admin    bool
	patterns []string // every tenant pattern that names them, sorted
	flawed   bool     // shares a username or an email with another member, or has no username
}

func newMember(username, email string, admin bool, groups, folders []string) *member {
	m := &member{username: username, admin: admin}
	if plausibleEmail(email) {
		m.email = foldEmail(email)
	}
	m.patterns = make([]string, 0, 2+len(groups)+len(folders))
	m.patterns = append(m.patterns, Everyone, "u/"+username)
	for _, group := range groups {
		m.patterns = append(m.patterns, "g/"+group)
	}
	for _, folder := range folders {
		m.patterns = append(m.patterns, "f/"+folder)
	}
	slices.Sort(m.patterns)
	m.patterns = slices.Compact(m.patterns)
	return m
}

func indexWorkspaces(workspaces []Workspace) map[string]*directory {
	holders := map[string]int{}
	for _, w := range workspaces {
		holders[w.ID]++
	}
	index := make(map[string]*directory, len(workspaces))
	for _, w := range workspaces {
		d := newDirectory(w)
		switch {
		case index[w.Name] != nil:
			d.flaw = fmt.Sprintf("workspace %q is in the catalog twice", w.Name)
		case w.ID != "" && holders[w.ID] > 1: // people of both would share logins
			d.flaw = fmt.Sprintf("workspace %q shares its id with another", w.Name)
		}
		index[w.Name] = d
	}
	return index
}

func newDirectory(w Workspace) *directory {
	groups := map[string][]string{} // username → groups
	for group, usernames := range w.Groups {
		for _, username := range usernames {
			groups[username] = append(groups[username], group)
		}
	}
	folders := map[string][]string{} // username → folders
	for folder, readers := range w.Folders {
		for _, reader := range readers {
			switch kind, name, _ := strings.Cut(reader, "/"); {
			case name == "": // not even where a group has no name
			case kind == "u":
				folders[name] = append(folders[name], folder)
			case kind == "g":
				for _, username := range w.Groups[name] {
					folders[username] = append(folders[username], folder)
				}
			}
		}
	}
	d := &directory{
		id:         w.ID,
		byUsername: make(map[string]*member, len(w.Members)),
		byEmail:    make(map[string]*member, len(w.Members)),
	}
	for _, p := range w.Members {
		m := newMember(p.Username, p.Email, p.Admin, groups[p.Username], folders[p.Username])
		m.flawed = m.username == ""
		for _, other := range []*member{d.byUsername[m.username], d.byEmail[m.email]} {
			if other != nil {
				m.flawed, other.flawed = true, true
			}
		}
		d.byUsername[m.username] = m
		if m.email != "" {
			d.byEmail[m.email] = m
		}
	}
	return d
}

// find looks user up, by username and then by email, and says how it went. A
// word that fits two people is nobody: the directory refuses such members, and
// guessing would hand one the roles of the other.
func (d *directory) find(workspace, user string) (*member, string) {
	switch {
	case d == nil:
		return nil, fmt.Sprintf("there is no workspace %q", workspace)
	case d.flaw != "":
		return nil, d.flaw
	}
	named, mailed := d.byUsername[user], d.byEmail[foldEmail(user)]
	switch {
	case named == nil && mailed == nil:
		return nil, fmt.Sprintf("%q is no username and no email of workspace %q", user, workspace)
	case named != nil && named.flawed, mailed != nil && mailed.flawed, named != nil && mailed != nil && named != mailed:
		return nil, fmt.Sprintf("%q does not tell one member of workspace %q from another", user, workspace)
	case named != nil:
		return named, fmt.Sprintf("member %q of %q by username", named.username, workspace)
	}
	return mailed, fmt.Sprintf("member %q of %q by email", mailed.username, workspace)
}

// counterpart finds the member of a governing workspace who is the same person
// as m of another workspace. Usernames are chosen anew in each workspace, so
// only the email tells.
func (d *directory) counterpart(workspace string, m *member) (*member, string) {
	switch {
	case d == nil:
		return nil, fmt.Sprintf("there is no workspace %q", workspace)
	case d.flaw != "":
		return nil, d.flaw
	}
	switch found := d.byEmail[m.email]; {
	case found == nil:
		return nil, fmt.Sprintf("nobody in %q has the email %q", workspace, m.email)
	case found.flawed:
		return nil, fmt.Sprintf("the email %q does not tell one member of %q from another", m.email, workspace)
	default:
		return found, fmt.Sprintf("member %q of %q by email", found.username, workspace)
	}
}
