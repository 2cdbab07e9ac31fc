terraform {
  required_version = ">= 1.8"

  required_providers {
    datatable = {
      source = "datatable-io/datatable"
    }
  }
}

# DATATABLE_URL and DATATABLE_ENCRYPTION_KEY say where the server is, and under
# which key the passwords of the logins are kept.
provider "datatable" {
  workspace = "acme"
}

variable "database" {
  description = "The database that schema.sql was run in."
  type        = string
  default     = "demo"
}

variable "emea_privileges" {
  description = "What sales_emea may do with the orders that it sees."
  type        = set(string)
  default     = ["SELECT", "INSERT"]
}
