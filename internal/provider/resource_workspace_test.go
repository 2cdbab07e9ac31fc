package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/datatable-io/terraform-provider-datatable/internal/acctest"
)

func TestWorkspaceChangesInPlace(t *testing.T) {
	e := acctest.New(t)
	const address = "datatable_workspace.it"
	config := func(arguments string) string {
		return e.Config("resource \"datatable_workspace\" \"it\" {\n  name = \"a c/m.e\"\n" + arguments + "\n}")
	}
	imports := resource.TestStep{
		ResourceName: address, ImportState: true, ImportStateVerify: true, ImportStateId: "a%20c%2Fm.e",
		ImportStateVerifyIdentifierAttribute: "name", ImportStateVerifyIgnore: []string{"statements"},
	}
	id := ""
	sameID := acctest.Check(t, func(t *testing.T) {
		got := e.Value(t, "SELECT id::text FROM datatable_catalog.workspace")
		if id != "" && got != id {
			t.Errorf("the id changed from %s to %s, and principal logins with it", id, got)
		}
		id = got
	})
	e.Test(
		t,
		resource.TestStep{Config: config(""), Check: sameID},
		imports,
		resource.TestStep{
			Config: config(`parent = "root"
  members = { ada = { email = "Ada@acme.test", admin = true }, bob = { email = "bob@acme.test" } }
  groups = { g = ["ada", "bob"], empty = [] }
  folders = { f = ["u/ada", "g/g"], none = [] }`),
			ConfigPlanChecks: acctest.Plan(plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate), e.Statements(address)),
			Check:            sameID,
		},
		imports,
		resource.TestStep{
			Config: config(`members = { ada = { email = "ada@acme.test" } }
  groups = {}
  folders = {}`),
			Check: sameID,
		},
		resource.TestStep{
			PreConfig: func() { e.SQL(t, "UPDATE datatable_catalog.member SET admin = true") },
			Config: config(`members = { ada = { email = "ada@acme.test" } }
  groups = {}
  folders = {}`),
			ConfigPlanChecks: acctest.Plan(plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate)),
			Check: acctest.Check(t, func(t *testing.T) {
				if e.Value(t, "SELECT admin::text FROM datatable_catalog.member") != "false" {
					t.Error("somebody who was made admin by hand still is")
				}
			}),
		},
		resource.TestStep{
			PreConfig: func() { e.SQL(t, "DELETE FROM datatable_catalog.workspace") },
			Config:    config(""), ConfigPlanChecks: acctest.Plan(plancheck.ExpectResourceAction(address, plancheck.ResourceActionCreate)),
		},
	)
}
