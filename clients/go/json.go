package interlingua

import (
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// ReadJSON reads the text of a field whose name ends in _json. Numbers are json.Number, so none is rounded; an empty
// text is nil.
func ReadJSON(text string) (any, error) {
	var value any
	if text == "" {
		return nil, nil
	}
	reader := json.NewDecoder(strings.NewReader(text))
	reader.UseNumber()
	if err := reader.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := reader.Token(); err != io.EOF {
		return nil, fmt.Errorf("there is more than one JSON value")
	}
	return value, nil
}

// WriteJSON writes a value as the text of a field whose name ends in _json.
func WriteJSON(value any) (string, error) {
	text, err := json.Marshal(value)
	return string(text), err
}

// Rest is what a message holds beside its fields: the members of a later version, and values that their field cannot
// hold. A member whose field is set in the meantime is not among them, for the field stands over it.
func Rest(message proto.Message) (map[string]any, error) {
	found, err := ReadJSON(restOf(message))
	members, isObject := found.(map[string]any)
	if err != nil || (found != nil && !isObject) {
		return nil, fmt.Errorf("rest_json must be a JSON object")
	}
	for name := range members {
		if isSet(message, name) {
			delete(members, name)
		}
	}
	return members, nil
}

// SetRest says what a message holds beside its fields. A member whose field is set is refused: set the field instead.
// SetRest(m, Rest(m)) makes a message that was read and edited ready to be sent.
func SetRest(message proto.Message, members map[string]any) error {
	field := message.ProtoReflect().Descriptor().Fields().ByName("rest_json")
	if field == nil {
		return fmt.Errorf("%s has no rest_json", message.ProtoReflect().Descriptor().Name())
	}
	for name := range members {
		if isSet(message, name) {
			return fmt.Errorf("the field of %s is set", name)
		}
	}
	if len(members) == 0 {
		message.ProtoReflect().Clear(field)
		return nil
	}
	text, err := WriteJSON(members)
	if err == nil {
		message.ProtoReflect().Set(field, protoreflect.ValueOfString(text))
	}
	return err
}

var decimal = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// Decimal reads an exact decimal such as Usage.CostUsd. Its FloatString writes it with as many digits as are wanted.
func Decimal(text string) (*big.Rat, error) {
	if !decimal.MatchString(text) {
		return nil, fmt.Errorf("%q is not a decimal", text)
	}
	value, _ := new(big.Rat).SetString(text)
	return value, nil
}

// Word is the specification's word for a value of an enum, e.g. "rate_limit" for ERROR_CATEGORY_RATE_LIMIT.
func Word(value protoreflect.Enum) string {
	values := value.Descriptor().Values()
	found := values.ByNumber(value.Number())
	if found == nil {
		return "other"
	}
	prefix := strings.TrimSuffix(string(values.ByNumber(0).Name()), "UNSPECIFIED")
	return strings.ToLower(strings.TrimPrefix(string(found.Name()), prefix))
}

func restOf(message proto.Message) string {
	if holder, ok := message.(interface{ GetRestJson() string }); ok {
		return holder.GetRestJson()
	}
	return ""
}

func isSet(message proto.Message, member string) bool {
	reflected := message.ProtoReflect()
	fields := reflected.Descriptor().Fields()
	for _, name := range []string{member, member + "_json"} {
		if field := fields.ByName(protoreflect.Name(name)); field != nil && name != "rest_json" && reflected.Has(field) {
			return true
		}
	}
	return false
}

func count(text string) int {
	number, _ := strconv.Atoi(text)
	return number
}
