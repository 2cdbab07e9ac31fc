package main

import (
	"context"
	"fmt"

	"github.com/google/go-cmp/cmp"
)

// What the second plan changes, and the statements that it has to show.
const changedVariable = `emea_privileges=["SELECT", "UPDATE"]`

var changedStatements = map[string][]string{
	"datatable_grant.orders_emea": {
		`GRANT UPDATE ON TABLE "public"."orders" TO "sales_emea"`,
		`REVOKE USAGE ON SEQUENCE … FROM "sales_emea" -- of serial columns of "public"."orders"`,
		`REVOKE INSERT ON TABLE "public"."orders" FROM "sales_emea"`,
	},
}

// showChange prints the plan of a change, which is not applied.
func (d *demo) showChange(ctx context.Context) error {
	const file = "change.tfplan"
	if err := d.tf.plan(ctx, changedVariable, file); err != nil {
		return err
	}
	if err := d.tf.show(ctx, d.out, file); err != nil {
		return err
	}
	statements, err := d.tf.statements(ctx, file)
	if err != nil {
		return err
	}
	if diff := cmp.Diff(changedStatements, statements); diff != "" {
		return fmt.Errorf("the plan's statements are not those of the change (-want +got):\n%s", diff)
	}
	return nil
}
