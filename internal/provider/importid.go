package provider

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/datatable-io/terraform-provider-datatable/internal/datatable"
)

// splitID takes an import id apart: parts are separated by slashes and
// percent-encoded, so that a slash in a name survives.
func splitID(id string, names ...string) ([]string, error) {
	parts := strings.Split(id, "/")
	example := strings.Join(names, "/")
	if len(parts) != len(names) {
		return nil, &datatable.InputError{Field: "id", Message: fmt.Sprintf(
			"import id %q has %d parts and needs %d: %s. A slash inside a name is written as %%2F", id, len(parts), len(names), example)}
	}
	for i, name := range names {
		decoded, err := url.PathUnescape(parts[i])
		if err != nil || decoded == "" {
			return nil, &datatable.InputError{Field: "id", Message: fmt.Sprintf(
				"import id %q: %s is empty or not percent-encoded: %s", id, name, example)}
		}
		parts[i] = decoded
	}
	return parts, nil
}

func notFound(what, id string) error {
	return fmt.Errorf("%s %q does not exist, so it cannot be imported", what, id)
}
