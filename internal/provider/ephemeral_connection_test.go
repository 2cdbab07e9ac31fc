package provider_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/datatable-io/terraform-provider-datatable/internal/acctest"
	"github.com/datatable-io/terraform-provider-datatable/internal/acctest/proxy"
)

// opens declares an ephemeral connection, and a program that connects with it.
func opens(t *testing.T, file, arguments string) string {
	t.Helper()
	command, environment := acctest.ReaderCommand(t,
		"SELECT current_user || ' ' || current_database() || ' ' || current_setting('search_path')", file)
	var b strings.Builder
	for name, value := range environment {
		fmt.Fprintf(&b, "        %s = %s\n", name, strconv.Quote(value))
	}
	return `
ephemeral "datatable_connection" "it" {
  identity = { user = "bob" }
  ` + arguments + `
}
resource "terraform_data" "program" {
  triggers_replace = [timestamp()]
  provisioner "local-exec" {
    command = ` + strconv.Quote(strconv.Quote(command)) + `
    environment = {
        ` + acctest.EnvReaderURL + ` = ephemeral.datatable_connection.it.url
` + b.String() + `    }
  }
}
`
}

func TestEphemeralConnectionIsOneToConnectWith(t *testing.T) {
	if !acctest.HasEphemeral(t) {
		t.Skip("the CLI is too old for ephemeral resources")
	}
	both(t, func(t *testing.T, e *acctest.Env) {
		file := t.TempDir() + "/out"
		m := acctest.NewModule(t, e.Config(two))
		m.MustRun("apply", "-auto-approve", "-input=false")
		for _, c := range []struct{ arguments, login, path string }{
			{`reference = "datatable://main?role=§a"`, "§a", `"$user", public`},
			{`reference = "datatable://main:my%20schema?role=§b"`, "§b", `"my schema"`},
			{`viewer = { user = "bob" }`, "wm_set_", `"$user", public`},
		} {
			m.Write("main.tf", e.Config(two+opens(t, file, c.arguments)))
			out := m.MustRun("apply", "-auto-approve", "-input=false")
			got, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			words := strings.SplitN(string(got), " ", 3)
			if !strings.HasPrefix(words[0], e.Name(c.login)) || words[1] != e.Database() || words[2] != c.path {
				t.Errorf("%s opens %q", c.arguments, got)
			}
			for _, secret := range e.Secrets(t, "§a", "§b") {
				if strings.Contains(m.Read("terraform.tfstate")+out, secret) {
					t.Errorf("%s: a secret is in the state or in the output", c.arguments)
				}
			}
		}
		m.Write("main.tf", e.Config(two+opens(t, file, `reference = "datatable://main?role=nobody"`)))
		oneError(t, fails(t, m, "apply", "-auto-approve"), "unknown_role")
		m.Write("main.tf", e.Config(two))
		m.MustRun("destroy", "-auto-approve", "-input=false")
		if left := e.Leftovers(t); len(left) > 0 {
			t.Errorf("left over: %q", left)
		}
	})
}

func TestOpeningASetThatExistsIsCheap(t *testing.T) {
	e := acctest.New(t)
	m := acctest.NewModule(t, e.Config(two))
	m.MustRun("apply", "-auto-approve", "-input=false")
	p, err := proxy.Start(e.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	open := func() proxy.Counts {
		s := e.ServiceAt(t, p.Addr())
		first := e.OpenWith(t, s, "acme", "datatable", "bob", "bob")
		p.Reset()
		if again := e.OpenWith(t, s, "acme", "datatable", "bob", "bob"); again != first {
			t.Error("it opens as another login")
		}
		return p.Counts()
	}
	open()
	cost := open()
	t.Logf("opening a set login that exists: %d statements, %d round trips", cost.Statements, cost.RoundTrips)
	if cost.RoundTrips > 3 {
		t.Errorf("%d round trips, and at most 3 are allowed:\n%s", cost.RoundTrips, strings.Join(p.Statements(), "\n"))
	}
	m.MustRun("destroy", "-auto-approve", "-input=false")
}
