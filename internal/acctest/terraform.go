package acctest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	"github.com/datatable-io/terraform-provider-datatable/internal/provider"
)

// Provider is a provider block for the environment, with further arguments.
func (e *Env) Provider(more ...string) string { return e.ProviderAt(e.URL(), more...) }

// ProviderAt is a provider block for another URL.
func (e *Env) ProviderAt(url string, more ...string) string {
	return fmt.Sprintf("provider \"datatable\" {\n  url            = %s\n  encryption_key = %s\n  workspace      = \"acme\"\n  %s\n}\n",
		strconv.Quote(url), strconv.Quote(e.key), strings.Join(more, "\n  "))
}

// ProviderByEnvironment is a provider block without secrets, and the
// environment variables that have them.
func (e *Env) ProviderByEnvironment() (hcl string, environment []string) {
	return "provider \"datatable\" {\n  workspace = \"acme\"\n}\n",
		[]string{"DATATABLE_URL=" + e.URL(), "DATATABLE_ENCRYPTION_KEY=" + e.key}
}

// Secrets are the provider's password and key, and those of roles.
func (e *Env) Secrets(t *testing.T, roles ...string) []string {
	t.Helper()
	secrets := []string{e.password, e.key}
	for _, role := range roles {
		secrets = append(secrets, e.Login(t, role).password)
	}
	return secrets
}

// Config is a configuration with the environment's provider block in front.
func (e *Env) Config(hcl string) string { return e.Provider() + e.Name(hcl) }

// Test runs steps with the real Terraform CLI. When they are done everything is
// destroyed, and nothing may be left over.
func (e *Env) Test(t *testing.T, steps ...resource.TestStep) {
	t.Helper()
	var last *provider.Provider
	closeLast := func() {
		if last != nil {
			last.Close()
		}
	}
	defer closeLast()
	resource.Test(t, resource.TestCase{
		TerraformVersionChecks: []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_8_0)},
		ProtoV6ProviderFactories: map[string]func() (tfprotov6.ProviderServer, error){
			"datatable": func() (tfprotov6.ProviderServer, error) {
				closeLast() // each command has its own, and they run one by one
				last = provider.New("test")
				return providerserver.NewProtocol6WithError(last)()
			},
		},
		CheckDestroy: func(*terraform.State) error {
			if left := e.Leftovers(t); len(left) > 0 {
				return fmt.Errorf("left over after destroy: %s", strings.Join(left, "; "))
			}
			return nil
		},
		Steps: steps,
	})
}

// Check turns checks that report to t into one that Terraform's harness calls
// after an apply.
func Check(t *testing.T, check func(t *testing.T)) resource.TestCheckFunc {
	t.Helper()
	return func(*terraform.State) error {
		check(t)
		if t.Failed() {
			return errors.New("a check after the apply failed, see above")
		}
		return nil
	}
}

// Leftovers lists what should be gone when everything is destroyed.
func (e *Env) Leftovers(t *testing.T) []string {
	t.Helper()
	left := e.Inconsistencies(t)
	for what, sql := range map[string]string{
		"role":      "SELECT rolname FROM pg_roles WHERE starts_with(rolname, '§') AND rolname <> '" + e.user + "' AND shobj_description(oid, 'pg_authid') LIKE 'datatable %'",
		"row":       "SELECT name FROM datatable_catalog.role",
		"entry":     "SELECT name FROM datatable_catalog.datatable",
		"workspace": "SELECT name FROM datatable_catalog.workspace",
		"set":       "SELECT login FROM datatable_catalog.role_set",
		"claim":     "SELECT id::text FROM datatable_ledger.claim",
		"policy":    "SELECT name FROM datatable_ledger.policy",
		"taken":     "SELECT privilege FROM datatable_ledger.taken_from_public",
		"rls":       "SELECT table_name FROM datatable_ledger.row_security",
	} {
		if table := tableOf(sql); table != "" && e.Value(t, "SELECT coalesce(to_regclass('"+table+"')::text, '')") == "" {
			continue
		}
		e.rows(t, e.Database(), sql, func(scan func(...any) error) error {
			var name string
			err := scan(&name)
			left = append(left, what+" "+name)
			return err
		})
	}
	slices.Sort(left)
	return left
}

func tableOf(sql string) string {
	_, from, _ := strings.Cut(sql, " FROM ")
	table, _, _ := strings.Cut(from, " ")
	if strings.HasPrefix(table, "datatable_") {
		return table
	}
	return ""
}

// Inconsistencies lists what must never be there, whatever is declared: a row
// that names a login that does not exist or cannot log in, a login without a
// row, a claim of a role that is gone.
func (e *Env) Inconsistencies(t *testing.T) []string {
	t.Helper()
	var found []string
	if e.Value(t, "SELECT coalesce(to_regclass('datatable_catalog.role')::text, '')") == "" {
		return nil
	}
	for what, sql := range map[string]string{
		"role without a login": `SELECT name FROM datatable_catalog.role c WHERE NOT EXISTS (
			SELECT FROM pg_roles r WHERE r.rolname = c.name AND r.rolcanlogin = c.enabled
				AND split_part(shobj_description(r.oid, 'pg_authid'), E'\n', 1) = 'datatable role ' || c.id)`,
		"set without a login": `SELECT login FROM datatable_catalog.role_set c WHERE length(password) > 0 AND NOT EXISTS (
			SELECT FROM pg_roles r WHERE r.rolname = c.login AND r.rolcanlogin
				AND split_part(shobj_description(r.oid, 'pg_authid'), E'\n', 1) = 'datatable role ' || c.login)`,
		"login without a row": `SELECT rolname FROM pg_roles r WHERE starts_with(rolname, '§')
			AND shobj_description(r.oid, 'pg_authid') LIKE 'datatable role %'
			AND NOT EXISTS (SELECT FROM datatable_catalog.role c WHERE c.name = r.rolname)`,
	} {
		e.rows(t, e.Database(), sql, func(scan func(...any) error) error {
			var name string
			err := scan(&name)
			found = append(found, what+": "+name)
			return err
		})
	}
	slices.Sort(found)
	return found
}

// Statements checks the statements that a plan shows for a resource, word for
// word.
func (e *Env) Statements(address string, want ...string) plancheck.PlanCheck {
	named := []string{} // and not nil, which is another list to cmp
	for _, statement := range want {
		named = append(named, e.Name(statement))
	}
	return statementsCheck{address: address, want: named}
}

type statementsCheck struct {
	address string
	want    []string
}

func (c statementsCheck) CheckPlan(_ context.Context, req plancheck.CheckPlanRequest, resp *plancheck.CheckPlanResponse) {
	for _, change := range req.Plan.ResourceChanges {
		if change.Address != c.address {
			continue
		}
		after, _ := change.Change.After.(map[string]any)
		text, err := json.Marshal(after["statements"])
		if err != nil {
			resp.Error = err
			return
		}
		var got []string
		if err := json.Unmarshal(text, &got); err != nil {
			resp.Error = fmt.Errorf("%s: statements are %s", c.address, text)
			return
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			resp.Error = fmt.Errorf("%s: statements of the plan (-want +got):\n%s", c.address, diff)
		}
		return
	}
	resp.Error = fmt.Errorf("%s is not in the plan", c.address)
}

// Plan gathers plan checks of a step, made before its apply.
func Plan(checks ...plancheck.PlanCheck) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: checks}
}
