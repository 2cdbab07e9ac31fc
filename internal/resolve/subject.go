package resolve

import (
	"fmt"
	"strconv"
)

// subject is a person of a request, once it is known who they are where.
type subject struct {
	label  string  // for messages: identity "bob"
	asked  string  // Person.User
	home   *member // in the workspace the data table was asked for in; nil: not a member
	judged *member // in the governing workspace, whose tenant lists count; nil: nobody there
	how    string  // who was matched, and by what
}

// newSubject matches a person of a request in the workspace that was asked for
// and in the one that governs. Their part is "identity" or "viewer".
func (ix *Index) newSubject(part string, p Person, asked, governing string) *subject {
	s := &subject{label: part + " " + strconv.Quote(p.User), asked: p.User}
	if p.User == "" {
		s.how = "no user is given"
		return s
	}
	if p.SpelledOut {
		email := p.Email
		if email == "" {
			email = p.User // which may be one
		}
		s.home = newMember(p.User, email, p.Admin, p.Groups, p.Folders)
		s.judged = s.home
		s.how = "taken as spelled out"
		return s
	}
	s.home, s.how = ix.workspaces[asked].find(asked, p.User)
	if s.home != nil && p.Email != "" && s.home.email != foldEmail(p.Email) {
		s.home, s.how = nil, fmt.Sprintf("%q of workspace %q does not have the email %q", p.User, asked, p.Email)
	}
	if s.home == nil {
		return s
	}
	if governing == asked {
		s.judged = s.home
		return s
	}
	var how string
	s.judged, how = ix.workspaces[governing].counterpart(governing, s.home)
	s.how += "; " + how
	return s
}

// admin tells whether the subject is an admin of the governing workspace.
func (s *subject) admin() bool { return s.judged != nil && s.judged.admin }

// cacheParts tell this subject from any other one. The patterns are there for
// the logins whose reach depends on groups without their name doing so.
func (s *subject) cacheParts() []string {
	if s == nil {
		return []string{"absent"}
	}
	var parts []string
	for _, m := range []*member{s.home, s.judged} {
		if m == nil {
			parts = append(parts, "nobody", s.asked)
			continue
		}
		parts = append(parts, "member", m.username, m.email, strconv.FormatBool(m.admin), digest(m.patterns...))
	}
	return parts
}
