package contract_test

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-mock/embedded"
	"github.com/stripe/stripe-mock/server"
	"github.com/stripe/stripe-mock/spec"
)

// difference is where something is not as Stripe describes it. Where begins with the name of the description's schema.
type difference struct{ where, what string }

// description is Stripe's OpenAPI description of its newest API version.
type description struct{ *spec.Spec }

func describe(t *testing.T) *description {
	t.Helper()
	loaded, err := server.LoadSpec(embedded.OpenAPISpec, "")
	require.NoError(t, err)
	return &description{loaded}
}

// answer is the schema of what an endpoint answers.
func (d *description) answer(t *testing.T, method, path string, status int) (schema *spec.Schema, name string) {
	t.Helper()
	template := templateOf(path)
	operation := d.Paths[spec.Path(template)][spec.HTTPVerb(strings.ToLower(method))]
	require.NotNil(t, operation, "%s %s is not described", method, template)
	code := spec.StatusCode("default")
	if status == http.StatusOK {
		code = spec.StatusCode(strconv.Itoa(status))
	}
	schema = operation.Responses[code].Content["application/json"].Schema
	require.NotNil(t, schema, "%s %s", method, template)
	return schema, method + " " + template
}

// templateOf names the path's ids as the description does.
func templateOf(path string) string {
	words := strings.Split(path, "/")
	for i, word := range words {
		switch prefix, _, found := strings.Cut(word, "_"); {
		case !found:
		case prefix == "pi":
			words[i] = "{intent}"
		case prefix == "ch" || prefix == "py":
			words[i] = "{charge}"
		case prefix == "cus":
			words[i] = "{customer}"
		case prefix == "acct":
			words[i] = "{account}"
		case prefix == "re" || prefix == "pyr":
			words[i] = "{refund}"
		case prefix == "dp":
			words[i] = "{dispute}"
		case prefix == "po":
			words[i] = "{payout}"
		case prefix == "txn" || prefix == "evt":
			words[i] = "{id}"
		}
	}
	return strings.Join(words, "/")
}

// compare finds where a value is not as described.
func (d *description) compare(schema *spec.Schema, value any, where string) []difference {
	schema, where = d.follow(schema, where)
	if value == nil {
		if schema.Nullable || len(schema.AnyOf) == 0 && schema.Type == "" {
			return nil
		}
		return []difference{{where, "null"}}
	}
	if len(schema.AnyOf) > 0 {
		return d.compareAny(schema.AnyOf, value, where)
	}
	if !typed(schema, value) {
		return []difference{{where, fmt.Sprintf("%T, not %s", value, schema.Type)}}
	}
	switch value := value.(type) {
	case map[string]any:
		return d.compareObject(schema, value, where)
	case []any:
		var found []difference
		for _, item := range value {
			found = append(found, d.compare(schema.Items, item, where+"[]")...)
		}
		return found
	case string:
		if len(schema.Enum) > 0 && !slices.Contains(schema.Enum, any(value)) {
			return []difference{{where, "value " + value}}
		}
		if schema.MaxLength > 0 && len([]rune(value)) > schema.MaxLength {
			return []difference{{where, "too long"}}
		}
	}
	return nil
}

func (d *description) follow(schema *spec.Schema, where string) (*spec.Schema, string) {
	if schema.Ref == "" {
		return schema, where
	}
	name := schema.Ref[strings.LastIndex(schema.Ref, "/")+1:]
	return d.Components.Schemas[name], name
}

// compareAny compares with the branch that fits best among those of the value's type.
func (d *description) compareAny(branches []*spec.Schema, value any, where string) []difference {
	var best []difference
	fits := false
	for _, branch := range branches {
		if inner, _ := d.follow(branch, where); !typed(inner, value) {
			continue
		}
		if found := d.compare(branch, value, where); !fits || len(found) < len(best) {
			best, fits = found, true
		}
	}
	if !fits {
		return []difference{{where, fmt.Sprintf("%T, not any of the described", value)}}
	}
	return best
}

func (d *description) compareObject(schema *spec.Schema, value map[string]any, where string) []difference {
	var found []difference
	for name, member := range value {
		inner := schema.Properties[name]
		switch {
		case inner != nil:
			found = append(found, d.compare(inner, member, where+"."+name)...)
		case schema.AdditionalProperties != nil:
			found = append(found, d.compare(schema.AdditionalProperties, member, where+".*")...)
		case len(schema.Properties) > 0:
			found = append(found, difference{where + "." + name, "not described"})
		}
	}
	for _, name := range schema.Required {
		if _, there := value[name]; !there {
			found = append(found, difference{where + "." + name, "missing"})
		}
	}
	if kind, _ := value["object"].(string); kind == "event" { // what happened is described as its own object
		if data, _ := value["data"].(map[string]any); data != nil {
			if object, _ := data["object"].(map[string]any); object != nil {
				kind, _ := object["object"].(string)
				found = append(found, d.compare(&spec.Schema{Ref: "#/components/schemas/" + kind}, object, kind)...)
			}
		}
	}
	return found
}

// typed says whether a JSON value is of the schema's type.
func typed(schema *spec.Schema, value any) bool {
	switch schema.Type {
	case spec.TypeObject:
		_, ok := value.(map[string]any)
		return ok
	case spec.TypeArray:
		_, ok := value.([]any)
		return ok
	case spec.TypeString:
		_, ok := value.(string)
		return ok
	case spec.TypeBoolean:
		_, ok := value.(bool)
		return ok
	case spec.TypeNumber:
		_, ok := value.(float64)
		return ok
	case spec.TypeInteger:
		number, ok := value.(float64)
		return ok && number == math.Trunc(number)
	}
	return true
}
