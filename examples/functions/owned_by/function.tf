output "own_rows" {
  # "email" = wm_email()
  value = provider::datatable::owned_by("email")
}
