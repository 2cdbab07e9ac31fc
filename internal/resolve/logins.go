package resolve

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
)

// SetLogin names the login that holds exactly the roles with these catalog ids
// (UUIDs): "wm_set_" and 32 hex characters. Order and repetition do not
// matter, and neither do the roles' names, so a rename moves nobody. cluster
// keeps the sets of two clusters apart.
func SetLogin(cluster string, roleIDs []string) string {
	ids := slices.Clone(roleIDs)
	slices.Sort(ids)
	return "wm_set_" + digest(append([]string{cluster}, slices.Compact(ids)...)...)[:32]
}

// UserLogin names the login of a person in the principals access model:
// "wm_u_" and 32 hex characters. The email's letter case does not matter.
// Postgres roles belong to the whole cluster, so the workspace's id is part of
// the hash.
func UserLogin(workspaceID, email string) string {
	return "wm_u_" + digest(workspaceID, foldEmail(email))[:32]
}

// GroupLogin names the role of a group in the principals access model: "wm_g_"
// and 32 hex characters.
func GroupLogin(workspaceID, group string) string {
	return "wm_g_" + digest(workspaceID, group)[:32]
}

// foldEmail gives the form of an email that two people cannot share: mail
// systems do not tell letter cases apart, so neither does the directory. Only
// ASCII letters are folded: some others, the Kelvin sign among them, have an
// ASCII letter for lower case, and would make two people one.
func foldEmail(email string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, email)
}

// digest is the SHA-256 of parts in hex, 64 characters. Each part is preceded
// by its length: no two lists of parts are hashed from the same bytes.
func digest(parts ...string) string {
	hash := sha256.New()
	for _, part := range parts {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		hash.Write(length[:])
		hash.Write([]byte(part))
	}
	return hex.EncodeToString(hash.Sum(nil))
}
