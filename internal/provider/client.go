package provider

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/datatable-io/terraform-provider-datatable/internal/datatable"
	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
)

// A client is what a configured provider hands to its resources. Nothing is
// connected to yet, so a plan that needs no database works without one.
type client struct {
	service *datatable.Service
	// unknown names the provider arguments whose values are not known yet.
	// While there are any, nothing is read: the values that are known could
	// lead to another server.
	unknown []string
	// workspace is the default for resources that name none; it may be unknown.
	workspace types.String
}

// usable adds an error where something has to be read and cannot be yet.
func (c *client) usable(diags *diag.Diagnostics) bool {
	if len(c.unknown) == 0 {
		return true
	}
	for _, name := range c.unknown {
		diags.AddError("The provider's "+name+" is not known yet",
			"The database has to be read, and the provider argument \""+name+"\" depends on something that is only known after apply. "+
				"Nothing is read from any other server instead. Apply what it depends on first, with -target.")
	}
	return false
}

// sentence makes an error's text read as one. A text that ends in statements is
// left as it is.
func sentence(err error) string {
	text := postgres.Legible(err.Error())
	first, size := utf8.DecodeRuneInString(text)
	if word, _, _ := strings.Cut(text, " "); !strings.ContainsAny(word, "_[\"") { // no name of an argument
		text = string(unicode.ToUpper(first)) + text[size:]
	}
	if strings.Contains(text, "\n") {
		return text
	}
	if last, _ := utf8.DecodeLastRuneInString(text); unicode.IsLetter(last) || unicode.IsDigit(last) || last == '"' || last == ')' || last == ']' {
		text += "."
	}
	return text
}
