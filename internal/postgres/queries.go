package postgres

import _ "embed" // the queries of this package are files

//go:embed sql/lock_holders.sql
var lockHoldersSQL string

//go:embed sql/objects.sql
var objectsSQL string

//go:embed sql/functions.sql
var functionsSQL string

//go:embed sql/roles.sql
var rolesSQL string

//go:embed sql/against_adoption.sql
var againstAdoptionSQL string

//go:embed sql/policies.sql
var policiesSQL string

//go:embed sql/foreign_code.sql
var foreignCodeSQL string

//go:embed sql/owned_code.sql
var ownedCodeSQL string

//go:embed sql/granted_on.sql
var grantedOnSQL string

//go:embed sql/tables.sql
var tablesSQL string

//go:embed sql/databases.sql
var databasesSQL string

//go:embed sql/replication.sql
var replicationSQL string

//go:embed sql/dependents.sql
var dependentsSQL string

//go:embed sql/memberships.sql
var membershipsSQL string

//go:embed sql/odd_memberships.sql
var oddMembershipsSQL string
