resource "datatable_workspace" "acme" {
  name = "acme"

  members = {
    alice = { email = "alice@example.com", admin = true }
    emma  = { email = "emma@example.com" }
    andy  = { email = "andy@example.com" }
    jobs  = { email = "jobs@example.com" } # what scheduled jobs run as
  }

  groups = {
    emea = ["emma"]
    amer = ["andy"]
  }

  # Who can read a folder: people, and groups.
  folders = {
    finance = ["u/alice", "g/emea"]
  }
}

# A workspace of its own people. Its data tables can be governed by one of acme;
# emma is then found by her email.
resource "datatable_workspace" "lab" {
  name   = "lab"
  parent = datatable_workspace.acme.name

  members = {
    emma2 = { email = "emma@example.com", admin = true }
  }
}
