package provider_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/compare"
)

// match finds a text in an error, which Terraform wraps into lines.
func match(text string) *regexp.Regexp {
	words := strings.Fields(text)
	for i, word := range words {
		words[i] = regexp.QuoteMeta(word)
	}
	return regexp.MustCompile(strings.Join(words, `[\s│]+`))
}

// contains checks texts in what Terraform printed, whatever its line breaks.
func contains(t *testing.T, out string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !match(text).MatchString(out) {
			t.Errorf("output lacks %q:\n%s", text, out)
		}
	}
}

// replace puts values in the place of words.
func replace(text string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(text) }

var unchanged = compare.ValuesSame()

// unwrapped undoes the line breaks that Terraform puts into messages.
func unwrapped(out string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(out, "│", " ")), " ")
}
