// Package canonical turns canonical JSON into messages and back, exactly, by reflection. It is how the conformance suite
// is led through the generated types; programs send JSON text as request_json and need none of this.
//
// A field takes a value only when it can give the same value back. Everything else (members of a later version, null, a
// value of the wrong type, an integer beyond the bits of its field) goes into rest_json, for the server to judge.
package canonical

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"
)

type (
	message = protoreflect.Message
	field   = protoreflect.FieldDescriptor
	name    = protoreflect.Name
	members = map[string]json.RawMessage
)

// Invalid is JSON that is no value of its type, with the JSON Pointer to the place.
type Invalid struct{ Message, Path string }

func (e *Invalid) Error() string { return e.Message + " at " + e.Path }

// Schema is what descriptors do not say of a type: the members that are required, and the constant of its member type.
type Schema map[string]struct {
	Required   []string
	Properties map[string]struct{ Const string }
}

// Load reads spec/schema/interlingua.schema.json.
func Load(file string) (Schema, error) {
	text, err := os.ReadFile(file)
	var found struct {
		Defs map[string]struct {
			Required   []string
			Properties map[string]json.RawMessage
		} `json:"$defs"`
	}
	if err == nil {
		err = json.Unmarshal(text, &found)
	}
	schema := Schema{}
	for kind, about := range found.Defs {
		row := schema[kind]
		row.Required, row.Properties = about.Required, map[string]struct{ Const string }{}
		var tag struct{ Const string }
		if json.Unmarshal(about.Properties["type"], &tag) == nil && tag.Const != "" {
			row.Properties["type"] = tag
		}
		schema[kind] = row
	}
	return schema, err
}

// Write fills a message from canonical JSON.
func (s Schema) Write(text []byte, target proto.Message) error {
	if !json.Valid(text) {
		return &Invalid{"not JSON", ""}
	}
	return s.write(text, target.ProtoReflect())
}

func (s Schema) write(text json.RawMessage, target message) error {
	var found members
	if kindOf(text) != '{' || json.Unmarshal(text, &found) != nil {
		return &Invalid{"must be an object", ""}
	}
	if union := unionOf(target.Descriptor()); union != nil {
		return s.writeUnion(text, found, union, target)
	}
	about := s[string(target.Descriptor().Name())]
	for _, required := range about.Required {
		if _, given := found[required]; !given {
			return &Invalid{"the member " + required + " is missing", ""}
		}
	}
	rest := members{}
	for member, value := range found {
		if member == "type" && about.Properties["type"].Const != "" {
			continue
		}
		field := fieldOf(target.Descriptor(), member)
		if field == nil {
			rest[member] = value
			continue
		}
		taken, err := s.writeField(value, field, target)
		if err != nil {
			return under(err, member)
		}
		if !taken {
			rest[member] = value
		}
	}
	if len(rest) > 0 {
		text, err := json.Marshal(rest)
		if err != nil {
			return &Invalid{"not JSON", ""}
		}
		target.Set(target.Descriptor().Fields().ByName("rest_json"), protoreflect.ValueOfString(string(text)))
	}
	return nil
}

func (s Schema) writeUnion(text json.RawMessage, found members, union protoreflect.OneofDescriptor, target message) error {
	word, isText := textOf(found["type"])
	if !isText {
		return &Invalid{"the member type is missing, or is not a text", "/type"}
	}
	arm := union.Fields().ByName(name(word))
	if arm != nil && word != "unknown" {
		return s.write(text, target.Mutable(arm).Message())
	}
	unknown := target.Mutable(union.Fields().ByName("unknown")).Message()
	fields := unknown.Descriptor().Fields()
	unknown.Set(fields.ByName("type"), protoreflect.ValueOfString(word))
	unknown.Set(fields.ByName("json"), protoreflect.ValueOfString(string(text)))
	return nil
}

// writeField tells whether the field took the value.
func (s Schema) writeField(value json.RawMessage, field field, target message) (bool, error) {
	switch {
	case strings.HasSuffix(string(field.Name()), "_json"):
		if kindOf(value) == 'n' {
			return false, nil
		}
		target.Set(field, protoreflect.ValueOfString(string(value)))
		return true, nil
	case field.IsMap():
		var texts map[string]json.RawMessage
		if kindOf(value) != '{' || json.Unmarshal(value, &texts) != nil {
			return false, nil
		}
		for _, item := range texts {
			if _, isText := textOf(item); !isText {
				return false, nil
			}
		}
		for key, item := range texts {
			text, _ := textOf(item)
			target.Mutable(field).Map().Set(protoreflect.ValueOfString(key).MapKey(), protoreflect.ValueOfString(text))
		}
		return true, nil
	case field.IsList():
		var items []json.RawMessage
		if kindOf(value) != '[' || json.Unmarshal(value, &items) != nil || len(items) == 0 {
			return false, nil
		}
		list := target.NewField(field).List()
		for position, item := range items {
			element, taken, err := s.element(item, field, list.NewElement)
			if err != nil {
				return false, under(err, strconv.Itoa(position))
			}
			if !taken {
				if field.Message() != nil {
					return false, &Invalid{"must be an object", "/" + strconv.Itoa(position)}
				}
				return false, nil
			}
			list.Append(element)
		}
		target.Set(field, protoreflect.ValueOfList(list))
		return true, nil
	}
	element, taken, err := s.element(value, field, func() protoreflect.Value { return target.NewField(field) })
	if taken && err == nil {
		target.Set(field, element)
	}
	return taken, err
}

func (s Schema) element(value json.RawMessage, field field, fresh func() protoreflect.Value) (protoreflect.Value, bool, error) {
	none := protoreflect.Value{}
	switch field.Kind() {
	case protoreflect.MessageKind:
		if field.Message().FullName() == "google.protobuf.Timestamp" {
			text, _ := textOf(value)
			moment, err := time.Parse(time.RFC3339Nano, text)
			if err != nil || timeText(moment) != text {
				return none, false, nil
			}
			return protoreflect.ValueOfMessage(timestamppb.New(moment).ProtoReflect()), true, nil
		}
		if kindOf(value) != '{' {
			return none, false, nil
		}
		found := fresh()
		return found, true, s.write(value, found.Message())
	case protoreflect.EnumKind:
		if kindOf(value) == 'n' {
			return none, false, nil
		}
		word, _ := textOf(value)
		for _, word := range []string{word, "other"} {
			if number := field.Enum().Values().ByName(enumName(field.Enum(), word)); number != nil && word != "unspecified" {
				return protoreflect.ValueOfEnum(number.Number()), kindOf(value) == '"', nil
			}
		}
		return none, false, &Invalid{"not one of the words of " + string(field.Enum().Name()), ""}
	case protoreflect.StringKind:
		text, isText := textOf(value)
		return protoreflect.ValueOfString(text), isText, nil
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(kindOf(value) == 't'), kindOf(value) == 't' || kindOf(value) == 'f', nil
	case protoreflect.Int32Kind:
		number, err := strconv.ParseInt(string(value), 10, 32)
		return protoreflect.ValueOfInt32(int32(number)), err == nil, nil
	case protoreflect.Int64Kind:
		number, err := strconv.ParseInt(string(value), 10, 64)
		return protoreflect.ValueOfInt64(number), err == nil, nil
	case protoreflect.DoubleKind:
		number, err := strconv.ParseFloat(string(value), 64)
		return protoreflect.ValueOfFloat64(number), err == nil && same(string(value), number), nil
	}
	return none, false, fmt.Errorf("no way to write %s", field.FullName())
}

// Read gives the canonical JSON of a message.
func (s Schema) Read(source proto.Message) ([]byte, error) {
	var out bytes.Buffer
	err := s.read(source.ProtoReflect(), &out)
	return out.Bytes(), err
}

func (s Schema) read(source message, out *bytes.Buffer) error {
	if union := unionOf(source.Descriptor()); union != nil {
		arm := source.WhichOneof(union)
		if arm == nil {
			return &Invalid{"nothing is set that this version knows", ""}
		}
		inner := source.Get(arm).Message()
		if arm.Name() == "unknown" {
			out.WriteString(inner.Get(inner.Descriptor().Fields().ByName("json")).String())
			return nil
		}
		return s.read(inner, out)
	}
	about := s[string(source.Descriptor().Name())]
	found := members{}
	if tag := about.Properties["type"].Const; tag != "" {
		found["type"] = json.RawMessage(strconv.Quote(tag))
	}
	fields := source.Descriptor().Fields()
	for position := range fields.Len() {
		field := fields.Get(position)
		member := strings.TrimSuffix(string(field.Name()), "_json")
		if field.Name() == "rest_json" || (!source.Has(field) && !(slices.Contains(about.Required, member) && isBare(field))) {
			continue
		}
		text, err := s.readField(field, source.Get(field))
		if err != nil {
			return under(err, member)
		}
		found[member] = text
	}
	if rest := source.Get(fields.ByName("rest_json")).String(); rest != "" {
		var more members
		if err := json.Unmarshal([]byte(rest), &more); err != nil {
			return &Invalid{"not a JSON object", "/rest_json"}
		}
		for member, value := range more {
			field := fieldOf(source.Descriptor(), member)
			if _, given := found[member]; !given || (field != nil && isBare(field) && !source.Has(field)) {
				found[member] = value
			}
		}
	}
	text, err := json.Marshal(found)
	out.Write(text)
	return err
}

func (s Schema) readField(field field, value protoreflect.Value) (json.RawMessage, error) {
	switch {
	case strings.HasSuffix(string(field.Name()), "_json"):
		return json.RawMessage(value.String()), nil
	case field.IsMap():
		texts := map[string]string{}
		value.Map().Range(func(key protoreflect.MapKey, item protoreflect.Value) bool {
			texts[key.String()] = item.String()
			return true
		})
		return plain(texts)
	case field.IsList():
		items := []json.RawMessage{}
		for position := range value.List().Len() {
			text, err := s.readElement(field, value.List().Get(position))
			if err != nil {
				return nil, under(err, strconv.Itoa(position))
			}
			items = append(items, text)
		}
		return json.Marshal(items)
	}
	return s.readElement(field, value)
}

func (s Schema) readElement(field field, value protoreflect.Value) (json.RawMessage, error) {
	switch field.Kind() {
	case protoreflect.MessageKind:
		if moment, isMoment := value.Message().Interface().(*timestamppb.Timestamp); isMoment {
			return plain(timeText(moment.AsTime()))
		}
		var out bytes.Buffer
		err := s.read(value.Message(), &out)
		return out.Bytes(), err
	case protoreflect.EnumKind:
		found := field.Enum().Values().ByNumber(value.Enum())
		if found == nil || found.Number() == 0 {
			return nil, &Invalid{"the enum value is not known to this version", ""}
		}
		prefix := strings.TrimSuffix(string(field.Enum().Values().ByNumber(0).Name()), "UNSPECIFIED")
		return plain(strings.ToLower(strings.TrimPrefix(string(found.Name()), prefix)))
	}
	return plain(value.Interface())
}

// isBare tells whether the field of a required member does not know if it is set.
func isBare(field field) bool {
	return field.IsList() || field.IsMap() ||
		(!field.HasPresence() && field.Kind() != protoreflect.EnumKind && !strings.HasSuffix(string(field.Name()), "_json"))
}

func unionOf(about protoreflect.MessageDescriptor) protoreflect.OneofDescriptor {
	if about.Oneofs().Len() == 1 && about.Oneofs().Get(0).Fields().ByName("unknown") != nil {
		return about.Oneofs().Get(0)
	}
	return nil
}

func fieldOf(about protoreflect.MessageDescriptor, member string) field {
	if found := about.Fields().ByName(name(member + "_json")); found != nil && member != "rest" {
		return found
	}
	if strings.HasSuffix(member, "_json") {
		return nil
	}
	return about.Fields().ByName(name(member))
}

func enumName(enum protoreflect.EnumDescriptor, word string) name {
	prefix := strings.TrimSuffix(string(enum.Values().ByNumber(0).Name()), "UNSPECIFIED")
	return name(prefix + strings.ToUpper(word))
}

func kindOf(text json.RawMessage) byte {
	trimmed := bytes.TrimLeft(text, " \t\r\n")
	if len(trimmed) == 0 {
		return 0
	}
	return trimmed[0]
}

// textOf is a JSON text. encoding/json puts U+FFFD in the place of half a surrogate pair; that is no text here.
func textOf(value json.RawMessage) (string, bool) {
	var text string
	if kindOf(value) != '"' || json.Unmarshal(value, &text) != nil {
		return "", false
	}
	if strings.ContainsRune(text, '\uFFFD') {
		written := bytes.Count(value, []byte("\uFFFD")) + strings.Count(strings.ToLower(string(value)), `\ufffd`)
		return text, strings.Count(text, "\uFFFD") <= written
	}
	return text, true
}

// same tells whether a double is the very number of a JSON text.
func same(text string, number float64) bool {
	if math.IsInf(number, 0) || len(text) > 400 {
		return false
	}
	written, valid := new(big.Rat).SetString(text)
	back, _ := new(big.Rat).SetString(strconv.FormatFloat(number, 'g', -1, 64))
	return valid && written.Cmp(back) == 0
}

func timeText(moment time.Time) string { return moment.UTC().Format("2006-01-02T15:04:05.000000Z") }

func plain(value any) (json.RawMessage, error) {
	var out bytes.Buffer
	writer := json.NewEncoder(&out)
	writer.SetEscapeHTML(false)
	err := writer.Encode(value)
	return bytes.TrimSpace(out.Bytes()), err
}

func under(err error, step string) error {
	if problem, isInvalid := err.(*Invalid); isInvalid {
		escaped := strings.ReplaceAll(strings.ReplaceAll(step, "~", "~0"), "/", "~1")
		return &Invalid{problem.Message, "/" + escaped + problem.Path}
	}
	return err
}
