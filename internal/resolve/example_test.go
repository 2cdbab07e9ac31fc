package resolve

import "fmt"

func Example() {
	index := NewIndex(Catalog{
		Workspaces: []Workspace{{
			ID:   "5b2e7f0e-0000-4000-8000-000000000001",
			Name: "acme",
			Members: []Member{
				{Username: "app", Email: "app@acme.test"},
				{Username: "bob", Email: "bob@acme.test"},
			},
			Groups: map[string][]string{"emea": {"bob"}},
		}},
		Roles: []Role{
			{ID: "5b2e7f0e-0000-4000-8000-000000000002", Name: "app_user", Enabled: true, Provisioned: true},
			{ID: "5b2e7f0e-0000-4000-8000-000000000003", Name: "sales_emea", Enabled: true, Provisioned: true},
		},
		Datatables: []Datatable{{
			Key:              Key{Workspace: "acme", Datatable: "main"},
			Access:           AccessRoles,
			DefaultRole:      "app_user",
			Tenants:          map[string][]string{"app_user": {"*"}, "sales_emea": {"g/emea"}},
			UnnamedRolesFrom: RuleViewer,
		}},
	})

	d := index.ResolveText("acme", "datatable", Person{User: "app"}, &Person{User: "bob"})
	fmt.Println(d.Kind, d.Roles)
	for _, step := range d.Trace[:len(d.Trace)-1] {
		fmt.Println("-", step)
	}

	d = index.ResolveText("acme", "main?role=sales_emea", Person{User: "app"}, nil)
	fmt.Println(d.Refusal.Code)

	// Output:
	// set [app_user sales_emea]
	// - data table acme/main is found
	// - access of acme/main is roles
	// - identity "app": member "app" of "acme" by username
	// - viewer "bob": member "bob" of "acme" by username
	// - no role is named: default role app_user, roles from viewer
	// - role app_user: taken, tenant * names viewer "bob"
	// - role sales_emea: taken, tenant g/emea names viewer "bob"
	// - default role app_user: taken, tenant * names identity "app"
	// not_a_tenant
}
