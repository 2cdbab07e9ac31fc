package provider_test

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/datatable-io/terraform-provider-datatable/internal/acctest"
	"github.com/datatable-io/terraform-provider-datatable/internal/acctest/proxy"
)

// counted runs Terraform through a proxy that counts.
func counted(t *testing.T, e *acctest.Env) (*proxy.Proxy, func(hcl string) *acctest.Module) {
	t.Helper()
	p, err := proxy.Start(e.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	u, err := url.Parse(e.URL())
	if err != nil {
		t.Fatal(err)
	}
	u.Host = p.Addr()
	return p, func(hcl string) *acctest.Module { return acctest.NewModule(t, e.ProviderAt(u.String())+e.Name(hcl)) }
}

// many declares n grants, policies, and connections.
func many(n int) string {
	return oneRole + fmt.Sprintf(`
resource "datatable_grant" "it" {
  count      = %[1]d
  datatable  = datatable.main.name
  role       = datatable_role.reader.name
  schema     = "public"
  objects    = ["t${count.index %% 10}"]
  privileges = ["SELECT"]
}
resource "datatable_policy" "it" {
  count     = %[1]d
  datatable = datatable.main.name
  table     = "t${count.index %% 10}"
  name      = "p${count.index}"
  using     = "a > ${count.index}"
}
data "datatable_connection" "it" {
  count     = %[1]d
  reference = "datatable"
  identity  = { user = "bob" }
}
`, n)
}

func TestPlanCostsTheSameForManyAsForFew(t *testing.T) {
	for _, n := range []int{2, 60} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			e := acctest.New(t)
			for i := range 10 {
				e.SQL(t, fmt.Sprintf("CREATE TABLE t%d (a int)", i))
			}
			p, module := counted(t, e)
			m := module(many(n))
			// The connections are only resolved once there is something to resolve.
			m.MustRun("apply", "-auto-approve", "-input=false", "-target=datatable.main")
			m.MustRun("apply", "-auto-approve", "-input=false")
			p.Reset()
			if out, err := m.Run("plan", "-detailed-exitcode", "-input=false"); err != nil {
				t.Fatalf("the second plan is not empty:\n%s", out)
			}
			cost := p.Counts()
			t.Logf("a plan over %d grants, policies and connections: %d statements, %d round trips, %d connections", n, cost.Statements, cost.RoundTrips, cost.Total)
			if cost.Statements > 30 || cost.Total > 4 {
				t.Errorf("%d statements and %d connections, and at most 30 and 4 are allowed:\n%s", cost.Statements, cost.Total, strings.Join(p.Statements(), "\n"))
			}
		})
	}
}

func TestGrantCostsFewRoundTrips(t *testing.T) {
	e := acctest.New(t)
	e.SQL(t, "CREATE TABLE t (a int)")
	p, module := counted(t, e)
	grants := func(n int) string {
		return oneRole + fmt.Sprintf(`
resource "datatable_grant" "it" {
  count      = %d
  datatable  = datatable.main.name
  role       = datatable_role.reader.name
  schema     = "public"
  objects    = ["t"]
  privileges = ["SELECT"]
}`, n)
	}
	m := module(grants(0))
	m.MustRun("apply", "-auto-approve", "-input=false")
	cost := func(n int) proxy.Counts {
		m.Write("main.tf", strings.Split(m.Read("main.tf"), "resource \"datatable_workspace\"")[0]+e.Name(grants(n)))
		m.MustRun("plan", "-out=plan", "-input=false")
		p.Reset()
		m.MustRun("apply", "-input=false", "plan")
		return p.Counts()
	}
	one, eleven := cost(1), cost(11)
	each := (eleven.RoundTrips - one.RoundTrips) / 9
	t.Logf("applying one grant: %d statements, %d round trips; ten: %d and %d; so each %d round trips",
		one.Statements, one.RoundTrips, eleven.Statements, eleven.RoundTrips, each)
	if each > 6 {
		t.Errorf("a grant costs %d round trips, and at most 6 are allowed", each)
	}
	if one.Peak > 4 || eleven.Peak > 4 {
		t.Errorf("%d and %d connections at once, and at most 4 are allowed", one.Peak, eleven.Peak)
	}
	m.MustRun("destroy", "-auto-approve", "-input=false")
}
