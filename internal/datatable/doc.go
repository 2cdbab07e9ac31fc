// Package datatable is the service behind the Terraform resources: what is
// done, in which order, and under which lock.
//
// Each use case has two halves. A Preview function is pure: from what was, what
// shall be, and what the last refresh saw, it tells the statements and the
// warnings that a plan shows. A method of [Service] does it: under the lock it
// compares what shall be with what is, stops with a [StaleError] where more
// would be needed than the preview told, and runs what is left together with
// the rows of the catalog or the ledger.
package datatable
