# The people, and the groups and folders that tenant lists name.
resource "datatable_workspace" "acme" {
  name = "acme"

  members = {
    alice = { email = "alice@example.com", admin = true }
    anton = { email = "anton@example.com" }
    bob   = { email = "bob@example.com" }
    carla = { email = "carla@example.com" }
    emma  = { email = "emma@example.com" }
    gina  = { email = "gina@example.com" }
    jobs  = { email = "jobs@example.com" } # what scheduled jobs run as
  }

  groups = {
    emea = ["emma", "gina"]
    amer = ["carla", "gina"]
  }

  folders = {
    reports = ["u/anton", "u/gina"]
  }
}
