terraform {
  required_version = ">= 1.8"

  required_providers {
    datatable = {
      source = "datatable-io/datatable"
    }
  }
}

# Where the server is and the key that passwords are kept under come from the
# environment, so that neither is in the configuration:
#
#   export DATATABLE_URL='postgres://owner:password@db.example.com:5432/shop?sslmode=verify-full'
#   export DATATABLE_ENCRYPTION_KEY="$(openssl rand -base64 32)"   # make it once, and keep it
provider "datatable" {
  workspace    = "acme"
  lock_timeout = "30s"
}
