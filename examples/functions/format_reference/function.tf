output "reference" {
  # datatable://main:analytics?role=reader
  value = provider::datatable::format_reference({
    datatable = "main"
    schema    = "analytics"
    role      = "reader"
  })
}

output "as_viewer" {
  # datatable://main?as=viewer
  value = provider::datatable::format_reference({ as = "viewer" })
}
