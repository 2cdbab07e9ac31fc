package privilege

import (
	"cmp"
	"slices"
	"strings"
)

// Public is the grantee that stands for every role.
const Public = "public"

// All is the privilege keyword that stands for every privilege of a type.
const All = "ALL"

// Names of the object types.
const (
	Database = "database"
	Schema   = "schema"
	Table    = "table"
	Sequence = "sequence"
	Function = "function"
)

// An ObjectType is one row of the table of things privileges are granted on.
type ObjectType struct {
	// Name as configurations write it, "table".
	Name string
	// Keyword after ON in GRANT, "TABLE".
	Keyword string
	// Plural is the keyword for many: ALL TABLES IN SCHEMA, and GRANT … ON
	// TABLES in default privileges. It is empty where the type is not contained
	// in a schema.
	Plural string
	// Privileges in the order Postgres's manual lists them.
	Privileges []Versioned
	// OfColumns are those that can be granted on single columns.
	OfColumns []string
	// Signature says that objects are named by signature, "f(text, integer)",
	// and not by name.
	Signature bool
}

// Versioned is a privilege and the major server version it came with, 0 for
// those that every supported version has.
type Versioned struct {
	Privilege string
	Since     int
}

// types lists every object type, outermost first: changes are made in this
// order, so that a schema can be used before what is in it is granted.
var types = []ObjectType{
	{
		Name:       Database,
		Keyword:    "DATABASE",
		Privileges: []Versioned{{"CREATE", 0}, {"CONNECT", 0}, {"TEMPORARY", 0}},
	},
	{
		Name:       Schema,
		Keyword:    "SCHEMA",
		Privileges: []Versioned{{"CREATE", 0}, {"USAGE", 0}},
	},
	{
		Name:    Table,
		Keyword: "TABLE",
		Plural:  "TABLES",
		Privileges: []Versioned{
			{"SELECT", 0},
			{"INSERT", 0},
			{"UPDATE", 0},
			{"DELETE", 0},
			{"TRUNCATE", 0},
			{"REFERENCES", 0},
			{"TRIGGER", 0},
			{"MAINTAIN", 17},
		},
		OfColumns: []string{"SELECT", "INSERT", "UPDATE", "REFERENCES"},
	},
	{
		Name:       Sequence,
		Keyword:    "SEQUENCE",
		Plural:     "SEQUENCES",
		Privileges: []Versioned{{"USAGE", 0}, {"SELECT", 0}, {"UPDATE", 0}},
	},
	{
		// Functions, procedures and aggregates alike.
		Name:       Function,
		Keyword:    "ROUTINE",
		Plural:     "ROUTINES",
		Privileges: []Versioned{{"EXECUTE", 0}},
		Signature:  true,
	},
}

// TypeNames returns the names of all object types.
func TypeNames() []string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = t.Name
	}
	return names
}

// TypeOf returns the object type of that name, and whether there is one.
func TypeOf(name string) (ObjectType, bool) {
	i := rank(name)
	if i < 0 {
		return ObjectType{}, false
	}
	return types[i], true
}

func rank(name string) int {
	return slices.IndexFunc(types, func(t ObjectType) bool { return t.Name == name })
}

// Contained says whether objects of this type live in a schema and are named
// one by one or all at once.
func (t ObjectType) Contained() bool { return t.Plural != "" }

// Has says whether the type knows the privilege, on whichever server version.
func (t ObjectType) Has(privilege string) bool {
	return slices.ContainsFunc(t.Privileges, func(v Versioned) bool { return v.Privilege == privilege })
}

// Names returns the privileges of the type on a server of that major version;
// version 0 means on any.
func (t ObjectType) Names(version int) []string {
	var names []string
	for _, v := range t.Privileges {
		if version == 0 || v.Since <= version {
			names = append(names, v.Privilege)
		}
	}
	return names
}

// An Extent tells how many objects an [Object] stands for.
type Extent string

const (
	// One is the object that is named, or the database, or a schema itself.
	One Extent = ""
	// Whole is every object of the type in the schema.
	Whole Extent = "whole"
	// Future is every object of the type that the role called Name makes in the
	// schema from now on.
	Future Extent = "future"
	// Owned is the sequences that columns of the table called Name own, or with
	// no name columns of any table in the schema: those of serial columns.
	Owned Extent = "owned"
)

// An Object is something a privilege is held on. The database that a
// connection is in is {Type: Database}, a schema {Type: Schema, Schema: "s"},
// a table {Type: Table, Schema: "s", Name: "t"}; a function's Name is its
// signature.
type Object struct {
	Type   string
	Schema string `json:",omitempty"`
	Name   string `json:",omitempty"`
	Extent Extent `json:",omitempty"`
}

func (o Object) compare(p Object) int {
	return cmp.Or(
		rank(o.Type)-rank(p.Type),
		strings.Compare(o.Schema, p.Schema),
		strings.Compare(string(o.Extent), string(p.Extent)),
		strings.Compare(o.Name, p.Name),
	)
}

func (o Object) schema() Object { return Object{Type: Schema, Schema: o.Schema} }

// includes says whether p is one of the many that o stands for.
func (o Object) includes(p Object) bool {
	switch {
	case o.Type != p.Type || o.Schema != p.Schema || o.Name != "":
		return false
	case o.Extent == Whole:
		return p.Extent == One
	}
	return o.Extent == Owned && p.Extent == Owned && p.Name != ""
}

func (o Object) whole() Object { return Object{Type: o.Type, Schema: o.Schema, Extent: Whole} }
