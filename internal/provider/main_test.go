package provider_test

import (
	"os"
	"testing"

	"github.com/datatable-io/terraform-provider-datatable/internal/acctest"
)

func TestMain(m *testing.M) { os.Exit(acctest.Main(m)) }
