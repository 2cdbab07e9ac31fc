// Package postgres is the way to a server: connections within a budget,
// transactions under an advisory lock that are retried where Postgres asks for
// it, what the system catalogs say, and every statement that is ever run or
// shown, as text.
//
// It knows nothing of data tables. A [Cluster] is one server; [Cluster.Do]
// runs a function in a transaction of one of its databases:
//
//	err := cluster.Do(ctx, "app", lock, func(tx *postgres.Tx) error {
//		return tx.Run(ctx, []postgres.Statement{postgres.CreateRole("reader", true)})
//	})
package postgres
