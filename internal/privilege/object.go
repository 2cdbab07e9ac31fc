package privilege

import (
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
)

// An ObjectType is one row of the table of things privileges are granted on.
type ObjectType struct {
	// Name as configurations write it, "table".
	Name string
	// Keyword after ON in GRANT, "TABLE".
	Keyword string
	// AllKeyword is what stands for every object of a schema, "ALL TABLES IN
	// SCHEMA". It is empty where the type is not contained in a schema.
	AllKeyword string
	// Privileges in the order Postgres's manual lists them.
	Privileges []Versioned
	// Implies is what a grantee needs around the object to reach it.
	Implies func(Object) []Need
}

// Versioned is a privilege and the major server version it came with, 0 for
// those that every supported version has.
type Versioned struct {
	Privilege string
	Since     int
}

// Need is a privilege on another object that a privilege is of no use without.
type Need struct {
	Object    Object
	Privilege string
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
		Name:       Table,
		Keyword:    "TABLE",
		AllKeyword: "ALL TABLES IN SCHEMA",
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
		Implies: usageOnSchema,
	},
}

func usageOnSchema(o Object) []Need {
	return []Need{{Object: Object{Type: Schema, Schema: o.Schema}, Privilege: "USAGE"}}
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
func (t ObjectType) Contained() bool { return t.AllKeyword != "" }

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

// An Object is something a privilege is held on. The database that a
// connection is in is {Type: Database}, a schema {Type: Schema, Schema: "s"},
// a table {Type: Table, Schema: "s", Name: "t"}. Whole stands for every object
// of the type in the schema, those that come later included.
type Object struct {
	Type   string
	Schema string
	Name   string
	Whole  bool
}

func (o Object) compare(p Object) int {
	if c := rank(o.Type) - rank(p.Type); c != 0 {
		return c
	}
	if c := strings.Compare(o.Schema, p.Schema); c != 0 {
		return c
	}
	return strings.Compare(o.Name, p.Name)
}
