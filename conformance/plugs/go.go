// A plug to start from, in Go: fill in the operations, run it, and grow.
//
//	python3 conformance/runner doctor -- go run conformance/plugs/go.go
//
// Numbers stay as they were written (json.Number): integers beyond 2^53 must not be rounded, and the suite asks.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

const adapter = "openai_chat" // one of the folders of conformance/cases

type object = map[string]any

// refused is an input that cannot be used; the category is one of spec/8-errors.md.
type refused struct{ category, message, path string }

var operations = map[string]func(object) object{
	"hello": func(object) object {
		return object{
			"protocol":       1,
			"implementation": object{"name": "skeleton", "version": "0", "language": "go"},
			"adapters":       object{adapter: []string{"to_wire"}}, // claim only what you do
			"operations":     []string{},
			"capabilities":   []string{}, // "tools", "images", … as you add them: until then no check asks for more than text
		}
	},
	"to_wire": toWire,
	"bye":     func(object) object { return object{} },
}

// toWire writes texts and a limit; any other member of the request is reported in `loss`, any other content refused.
func toWire(input object) object {
	request := input["request"].(object)
	messages := []object{}
	for number, item := range request["messages"].([]any) {
		turn := item.(object)
		content := turn["content"].([]any)
		if len(content) != 1 || content[0].(object)["type"] != "text" {
			panic(refused{"unsupported", "only messages with one text", fmt.Sprintf("/messages/%d/content", number)})
		}
		messages = append(messages, object{"role": turn["role"], "content": content[0].(object)["text"].(string)})
	}
	named, _ := request["model"].(string)
	_, model, _ := strings.Cut(named, ":")
	body, loss := object{"model": model, "messages": messages}, []object{}
	for name, value := range request {
		switch name {
		case "model", "messages":
		case "max_output_tokens":
			body["max_completion_tokens"] = value
		default:
			loss = append(loss, object{"op": "drop", "path": "/" + name, "code": "unsupported_field", "severity": "lost", "message": "not yet"})
		}
	}
	wire := object{"method": "POST", "path": "/chat/completions", "headers": object{}, "body": body}
	return object{"wire": wire, "loss": loss}
}

func handle(message object) (answer object) {
	answer = object{"id": message["id"]}
	name, _ := message["op"].(string)
	operation, known := operations[name]
	if asked, given := message["adapter"]; !known || (given && asked != adapter) {
		answer["unsupported"] = true
		return
	}
	defer func() {
		switch problem := recover().(type) {
		case nil:
		case refused:
			answer["error"] = object{"category": problem.category, "message": problem.message, "path": problem.path}
		default: // a value that is not what it should be
			answer["error"] = object{"category": "invalid_request", "message": "not understood"}
		}
	}()
	input, _ := message["input"].(object)
	answer["output"] = operation(input)
	return
}

func main() {
	lines, out := bufio.NewReader(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		line, end := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			decoder := json.NewDecoder(bytes.NewReader(line))
			decoder.UseNumber()
			var message object
			if decoder.Decode(&message) == nil {
				_ = out.Encode(handle(message))
			}
			if message["op"] == "bye" {
				return
			}
		}
		if end == io.EOF {
			return
		}
	}
}
