package datatable

import (
	"strings"

	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
	"github.com/datatable-io/terraform-provider-datatable/internal/privilege"
)

// A Preview is what a plan shows of a change.
type Preview struct {
	Statements []postgres.Statement
	Warnings   []Warning
}

// Texts are the statements as plain strings.
func (p Preview) Texts() []string { return postgres.Texts(p.Statements) }

// A Warning is shown with a plan. Terraform folds those with equal summaries,
// so each summary names its object.
type Warning struct {
	Summary, Detail string
	// Field is the argument it is about, or empty.
	Field string
}

func (p *Preview) warn(field, summary, detail string) {
	p.Warnings = append(p.Warnings, Warning{Summary: summary, Detail: detail, Field: field})
}

// takesAway adds the warning that a destroy shows.
func (p *Preview) takesAway(what string) {
	if len(p.Statements) > 0 {
		p.warn("", what, strings.Join(postgres.Texts(p.Statements), ";\n"))
	}
}

// unplanned is an error where a difference needs more than was foreseen.
func unplanned(needed, foreseen privilege.Difference, database string) error {
	excess := needed.Exceeds(foreseen)
	if excess.Empty() {
		return nil
	}
	return &StaleError{Missing: postgres.AllPrivileges(excess.Changes(nil, nil), database)}
}
