// Package catalog keeps the rows that Postgres itself has no place for: in
// schema datatable_catalog of the catalog database the directory, the data
// tables, the roles and the set logins; in schema datatable_ledger of each
// data table's database what is declared about the objects beside it.
//
// Its functions run in a transaction that the caller has opened, under the
// lock that the caller holds. Passwords are sealed by a [Box] before they get
// here and leave only through one.
package catalog
