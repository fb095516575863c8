package strictjson

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// bind puts the members of root into the struct that into points to.
func bind(root value, into any) error {
	target := reflect.ValueOf(into)
	if target.Kind() != reflect.Pointer || target.Elem().Kind() != reflect.Struct {
		panic(fmt.Sprintf("strictjson: %T is no pointer to a struct", into))
	}
	return bindStruct("", root, target.Elem())
}

func bindStruct(path string, object value, target reflect.Value) error {
	fields := fieldsOf(target.Type())
	for _, m := range object.members {
		here := join(path, m.name)
		index, known := fields[m.name]
		if !known {
			return &FieldError{Field: here, Reason: unknownReason(m.name, fields)}
		}
		if err := bindValue(here, m.value, target.Field(index)); err != nil {
			return err
		}
	}
	return nil
}

// known holds what fieldsOf found, by type: there are as many as kinds of bodies.
var known sync.Map //nolint:gochecknoglobals // a memory of what never changes

// fieldsOf maps the members of a struct to its fields.
func fieldsOf(t reflect.Type) map[string]int {
	if found, ok := known.Load(t); ok {
		return found.(map[string]int) //nolint:forcetypeassert // nothing else is stored
	}
	fields := make(map[string]int, t.NumField())
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name == "" || name == "-" {
			panic(fmt.Sprintf("strictjson: field %s.%s has no json name", t, t.Field(i).Name))
		}
		fields[name] = i
	}
	known.Store(t, fields)
	return fields
}

func unknownReason(name string, fields map[string]int) string {
	for known := range fields {
		if strings.EqualFold(known, name) {
			return fmt.Sprintf("differs only in letter case from %q", known)
		}
	}
	return "is not a member that is known here"
}

func bindValue(path string, v value, target reflect.Value) error {
	if v.kind == kindNull {
		return nil
	}
	if target.Kind() == reflect.Pointer {
		inner := reflect.New(target.Type().Elem())
		if err := bindValue(path, v, inner.Elem()); err != nil {
			return err
		}
		target.Set(inner)
		return nil
	}
	switch target.Kind() {
	case reflect.String:
		if v.kind != kindString {
			return mustBe(path, kindString, v)
		}
		target.SetString(v.text)
	case reflect.Bool:
		if v.kind != kindBool {
			return mustBe(path, kindBool, v)
		}
		target.SetBool(v.boolean)
	case reflect.Int64:
		return bindInteger(path, v, target)
	case reflect.Map:
		return bindStrings(path, v, target)
	case reflect.Slice:
		return bindList(path, v, target)
	case reflect.Struct:
		if v.kind != kindObject {
			return mustBe(path, kindObject, v)
		}
		return bindStruct(path, v, target)
	default:
		panic(fmt.Sprintf("strictjson: %s: a field cannot be a %s", path, target.Type()))
	}
	return nil
}

// bindInteger takes an integer in its only plain spelling: no fraction, no exponent, no -0.
func bindInteger(path string, v value, target reflect.Value) error {
	if v.kind != kindNumber {
		return &FieldError{Field: path, Reason: "must be an integer, not " + v.kind.String()}
	}
	if v.text == "-0" || strings.ContainsAny(v.text, ".eE") {
		return &FieldError{Field: path, Reason: "must be written as a plain integer"}
	}
	number, err := strconv.ParseInt(v.text, 10, 64)
	if err != nil || number > MaxInteger || number < -MaxInteger {
		return &FieldError{Field: path, Reason: "is out of range"}
	}
	target.SetInt(number)
	return nil
}

func bindStrings(path string, v value, target reflect.Value) error {
	if target.Type() != reflect.TypeFor[map[string]string]() {
		panic(fmt.Sprintf("strictjson: %s: a field cannot be a %s", path, target.Type()))
	}
	if v.kind != kindObject {
		return mustBe(path, kindObject, v)
	}
	strings := make(map[string]string, len(v.members))
	for _, m := range v.members {
		switch m.value.kind {
		case kindNull:
		case kindString:
			strings[m.name] = m.value.text
		default:
			return mustBe(join(path, m.name), kindString, m.value)
		}
	}
	target.Set(reflect.ValueOf(strings))
	return nil
}

// bindList takes an array of strings or of objects. Only a member can be absent, so an element is not null.
func bindList(path string, v value, target reflect.Value) error {
	if v.kind != kindArray {
		return mustBe(path, kindArray, v)
	}
	if target.Type().Elem().Kind() == reflect.Struct {
		return bindObjects(path, v, target)
	}
	if target.Type() != reflect.TypeFor[[]string]() {
		panic(fmt.Sprintf("strictjson: %s: a field cannot be a %s", path, target.Type()))
	}
	list := make([]string, 0, len(v.elements))
	for _, element := range v.elements {
		if element.kind != kindString {
			return mustBe(path, kindString, element)
		}
		list = append(list, element.text)
	}
	target.Set(reflect.ValueOf(list))
	return nil
}

func bindObjects(path string, v value, target reflect.Value) error {
	list := reflect.MakeSlice(target.Type(), len(v.elements), len(v.elements))
	for i, element := range v.elements {
		here := at(path, i)
		if element.kind != kindObject {
			return mustBe(here, kindObject, element)
		}
		if err := bindStruct(here, element, list.Index(i)); err != nil {
			return err
		}
	}
	target.Set(list)
	return nil
}

// at is the path of an element.
func at(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

func mustBe(path string, want kind, got value) error {
	return &FieldError{Field: path, Reason: fmt.Sprintf("must be %s, not %s", want, got.kind)}
}
