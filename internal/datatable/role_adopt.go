package datatable

import (
	"context"
	"fmt"
	"strings"

	"github.com/datatable-io/terraform-provider-datatable/internal/catalog"
	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
)

// adoption is the statement that makes a role of the catalog of one that
// Postgres has already. It is refused where somebody would keep, or come to,
// more than a role is given here.
func adoption(ctx context.Context, tx *postgres.Tx, r Role, found postgres.Role) (postgres.Statement, error) {
	name := postgres.Ident(r.Name)
	var against []string
	if id, marked := catalog.Marked(found.Comment); marked {
		against = append(against, fmt.Sprintf("its comment %q marks it as that of another catalog, or of another entry of this one; "+
			"if nothing needs it there any more, run COMMENT ON ROLE %s IS NULL", catalog.Mark(id), name))
	}
	err := tx.Batch(ctx, postgres.AgainstAdoption(r.Name, func(kind, of string) {
		switch of := postgres.Ident(of); kind {
		case "superuser":
			against = append(against, "it is a superuser, whom nothing holds back; ALTER ROLE "+name+" NOSUPERUSER makes it none")
		case "login":
			against = append(against, "it is the provider's own login")
		case "database":
			against = append(against, "it owns database "+of+", and with it all that is granted there; run ALTER DATABASE "+of+" OWNER TO another role")
		case "member of":
			against = append(against, "it is a member of "+of+", and holds what that does; run REVOKE "+of+" FROM "+name)
		case "member":
			against = append(against, of+" is a member of it, and would hold what it is granted; run REVOKE "+name+" FROM "+of)
		default:
			against = append(against, "the provider's login may not alter it; as a superuser, run GRANT "+name+" TO "+postgres.Ident(tx.User())+" WITH ADMIN OPTION")
		}
	}))
	if err != nil {
		return "", err
	}
	if len(against) > 0 {
		return "", inputError("adopt", "role %q is not taken over, and nothing was changed:\n- %s\nChange that and apply again, or choose another name",
			r.Name, strings.Join(against, "\n- "))
	}
	return postgres.AdoptRole(r.Name, r.Enabled, found.Astray), nil
}
