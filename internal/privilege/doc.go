// Package privilege knows what a declared grant means: which privileges on
// which objects it claims, what has to be granted and revoked so that exactly
// the claimed privileges hold, and how those changes fold into few statements.
//
// It is pure. What exists and what is held is handed in as an [Inventory] and
// a [Set]; what comes out is a list of [Change] values that package postgres
// renders as SQL.
//
// A [Claim] is what one resource declares. It expands to [Atom] values, the
// smallest thing Postgres grants. Several claims may want the same atom: a
// privilege is held while at least one of them does.
package privilege
