package datatable

import (
	"fmt"
	"strings"

	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
	"github.com/datatable-io/terraform-provider-datatable/internal/resolve"
)

// An InputError is a value that cannot work, and the argument that has it.
type InputError struct {
	// Field is the argument's name.
	Field   string
	Message string
}

func (e *InputError) Error() string { return e.Message }

func inputError(field, format string, args ...any) error {
	return &InputError{Field: field, Message: fmt.Sprintf(format, args...)}
}

// A StaleError says that the database changed since the plan was made, so that
// statements are needed which it did not show. Nothing was changed.
type StaleError struct {
	Missing []postgres.Statement
}

func (e *StaleError) Error() string {
	return "the database changed since the plan was made. Nothing was changed. Plan again; what would have been needed, " +
		"and was not in the plan:\n" + strings.Join(postgres.Texts(e.Missing), ";\n")
}

// A StandingError is a data table that cannot go yet.
type StandingError struct {
	Datatable resolve.Key
	// Standing describes each claim and policy.
	Standing []string
}

func (e *StandingError) Error() string {
	return fmt.Sprintf("data table %s still has grants or policies declared on it. Nothing was changed. "+
		"Destroy them first. Where the data table is replaced they have to be too: give them lifecycle { replace_triggered_by = [datatable.<name>] }. They are:\n%s",
		e.Datatable, strings.Join(e.Standing, "\n"))
}

func unknownDatatable(key resolve.Key) error {
	return inputError("datatable", "data table %s is not in the catalog. Declare it, and refer to it (datatable.%s.name) so that it is made first",
		key, key.Datatable)
}
