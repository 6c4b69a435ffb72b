// The plug leads the conformance suite through the messages of Go: every canonical value becomes a message, goes through
// a server, and what comes back becomes JSON again.
//
//	python3 conformance/runner run -- plug HOST:PORT spec/schema/interlingua.schema.json
//
// encode and decode are the operations of the cross test (clients/run.py): a value as bytes, and back.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	interlingua "github.com/interlingua/interlingua/clients/go"
	pb "github.com/interlingua/interlingua/clients/go/interlinguav1"
	"github.com/interlingua/interlingua/clients/go/internal/canonical"
)

type (
	raw    = json.RawMessage
	object = map[string]any
)

type plug struct {
	ctx    context.Context // of one message
	client *interlingua.Client
	schema canonical.Schema
}

// input is the input of any operation, see conformance/protocol.md.
type input struct {
	Request, Response, Wire, Body, Events, Error, Usage, Price, Value raw
	Provider, Model, Origin, Type                                     string
	StateInIds                                                        bool `json:"state_in_ids"`
	Chunks                                                            []string
	Status                                                            int32
	Headers                                                           map[string]string
	Raw                                                               bool
	Bytes                                                             string
}

var operations = map[string]func(plug, string, input) (object, error){
	"to_wire": func(p plug, adapter string, in input) (object, error) {
		request := &pb.Request{}
		if err := p.schema.Write(in.Request, request); err != nil {
			return nil, err
		}
		return p.adapt("wire", &pb.AdaptRequest{Input: &pb.AdaptRequest_Request{Request: request}, Target: in.side(adapter)})
	},
	"to_wire_response": func(p plug, adapter string, in input) (object, error) {
		response := &pb.Response{}
		if err := p.schema.Write(in.Response, response); err != nil {
			return nil, err
		}
		request := &pb.AdaptRequest{Input: &pb.AdaptRequest_Response{Response: response}, Target: in.side(adapter)}
		return p.answer("body", request, in)
	},
	"from_wire_request": func(p plug, adapter string, in input) (object, error) {
		wire := &pb.AdaptRequest_WireJson{WireJson: string(in.Wire)}
		return p.adapt("request", &pb.AdaptRequest{Input: wire, Kind: pb.Kind_KIND_REQUEST, Source: in.side(adapter)})
	},
	"from_wire_response": func(p plug, adapter string, in input) (object, error) {
		body := &pb.AdaptRequest_WireJson{WireJson: string(in.Body)}
		request := &pb.AdaptRequest{Input: body, Kind: pb.Kind_KIND_RESPONSE, Source: in.side(adapter)}
		return p.answer("response", request, in)
	},
	"stream": func(p plug, adapter string, in input) (object, error) {
		chunks, err := in.chunks()
		if err != nil {
			return nil, err
		}
		return p.answer("events", &pb.AdaptRequest{Input: chunks, Source: in.side(adapter)}, in)
	},
	"stream_encode": func(p plug, adapter string, in input) (object, error) {
		var texts []raw
		if err := json.Unmarshal(in.Events, &texts); err != nil {
			return nil, &canonical.Invalid{Message: "not a list", Path: "/events"}
		}
		events := &pb.Events{}
		for _, text := range texts {
			event := &pb.StreamEvent{}
			if err := p.schema.Write(text, event); err != nil {
				return nil, err
			}
			events.Events = append(events.Events, event)
		}
		request := &pb.AdaptRequest{Input: &pb.AdaptRequest_Events{Events: events}, Target: in.side(adapter)}
		return p.answer("chunks", request, in)
	},
	"error": func(p plug, adapter string, in input) (object, error) {
		body := string(in.Body)
		var text string
		if json.Unmarshal(in.Body, &text) == nil {
			body = text
		}
		answer := &pb.ErrorAnswer{Status: in.Status, Headers: in.Headers, Body: body}
		request := &pb.AdaptRequest{Input: &pb.AdaptRequest_ErrorAnswer{ErrorAnswer: answer}, Source: in.side(adapter), IncludeRaw: in.Raw}
		return p.adapt("error", request)
	},
	"to_wire_error": func(p plug, adapter string, in input) (object, error) {
		problem := &pb.Error{}
		if err := p.schema.Write(in.Error, problem); err != nil {
			return nil, err
		}
		return p.adapt("answer", &pb.AdaptRequest{Input: &pb.AdaptRequest_Error{Error: problem}, Target: in.side(adapter)})
	},
	"cost": func(p plug, _ string, in input) (object, error) {
		usage := &pb.Usage{}
		if err := p.schema.Write(in.Usage, usage); err != nil {
			return nil, err
		}
		price := string(in.Price)
		if price == "" || price == "null" {
			price = "{}" // without any the server would look the model up in its own table
		}
		found, err := p.client.Estimate(p.ctx, &pb.EstimateRequest{Subject: &pb.EstimateRequest_Usage{Usage: usage}, PriceJson: price})
		if err != nil || found.GetCost() == nil {
			return object{"cost_usd": nil}, err
		}
		return object{"cost_usd": found.GetCost().GetLikelyUsd()}, nil
	},
	"encode": func(p plug, _ string, in input) (object, error) {
		value, err := named(in.Type)
		if err == nil {
			err = p.schema.Write(in.Value, value)
		}
		data, _ := proto.Marshal(value)
		return object{"bytes": base64.StdEncoding.EncodeToString(data)}, err
	},
	"decode": func(p plug, _ string, in input) (object, error) {
		value, err := named(in.Type)
		if err != nil {
			return nil, err
		}
		data, _ := base64.StdEncoding.DecodeString(in.Bytes)
		if err := proto.Unmarshal(data, value); err != nil {
			return nil, &canonical.Invalid{Message: "not the bytes of a message", Path: "/bytes"}
		}
		text, err := p.schema.Read(value)
		again, _ := proto.Marshal(value)
		return object{"value": raw(text), "bytes": base64.StdEncoding.EncodeToString(again)}, err
	},
	"bye": func(plug, string, input) (object, error) { return object{}, nil },
}

// answer adapts an answer, beside the request that it answers where the suite gives one.
func (p plug) answer(member string, request *pb.AdaptRequest, in input) (object, error) {
	if in.Request != nil {
		answered := &pb.Request{}
		if err := p.schema.Write(in.Request, answered); err != nil {
			return nil, err
		}
		request.Answered = &pb.AdaptRequest_AnsweredRequest{AnsweredRequest: answered}
	}
	return p.adapt(member, request)
}

func (p plug) adapt(member string, request *pb.AdaptRequest) (object, error) {
	answer, err := p.client.Adapt(p.ctx, request)
	if err != nil {
		return nil, err
	}
	loss := []raw{}
	for _, entry := range answer.GetLoss() {
		text, err := p.schema.Read(entry)
		if err != nil {
			return nil, err
		}
		loss = append(loss, text)
	}
	output := object{"loss": loss}
	switch arrived := answer.GetOutput().(type) {
	case *pb.AdaptResponse_WireJson:
		output[member] = raw(arrived.WireJson)
	case *pb.AdaptResponse_Request:
		output[member], err = p.read(arrived.Request)
	case *pb.AdaptResponse_Response:
		output[member], err = p.read(arrived.Response)
	case *pb.AdaptResponse_Chunks:
		output[member] = arrived.Chunks.GetChunks() // bytes are base64 in JSON
	case *pb.AdaptResponse_Events:
		return p.events(arrived.Events, len(request.GetChunks().GetChunks()))
	case *pb.AdaptResponse_Error:
		text, err := p.read(arrived.Error)
		output = object{}
		return output, errors.Join(err, json.Unmarshal(text, (*rawMembers)(&output)))
	case *pb.AdaptResponse_ErrorAnswer:
		var body any = arrived.ErrorAnswer.GetBody()
		if json.Valid([]byte(arrived.ErrorAnswer.GetBody())) {
			body = raw(arrived.ErrorAnswer.GetBody())
		}
		headers := arrived.ErrorAnswer.GetHeaders()
		if headers == nil {
			headers = map[string]string{}
		}
		output["wire"] = object{"status": arrived.ErrorAnswer.GetStatus(), "headers": headers, "body": body}
	}
	return output, err
}

// rawMembers keeps the members of an object as they are written.
type rawMembers object

func (m *rawMembers) UnmarshalJSON(text []byte) error {
	var found map[string]raw
	err := json.Unmarshal(text, &found)
	for name, value := range found {
		(*m)[name] = value
	}
	return err
}

// events are given by the chunk that completed them, and behind the last chunk those that the end of input brought.
func (p plug) events(events *pb.Events, chunks int) (object, error) {
	parts := make([][]raw, chunks+1)
	for position := range parts {
		parts[position] = []raw{}
	}
	var response any
	for position, event := range events.GetEvents() {
		text, err := p.read(event)
		if err != nil {
			return nil, err
		}
		at := min(int(events.GetCompletedBy()[position]), chunks)
		parts[at] = append(parts[at], text)
		response = nil
		for _, held := range []*pb.Response{event.GetMessageComplete().GetResponse(), event.GetError().GetResponse()} {
			if held != nil {
				if response, err = p.read(held); err != nil {
					return nil, err
				}
			}
		}
	}
	return object{"events": parts, "response": response}, nil
}

func (p plug) read(message proto.Message) (raw, error) {
	text, err := p.schema.Read(message)
	return text, err
}

func (in input) side(adapter string) *pb.Side {
	return &pb.Side{Adapter: adapter, Provider: in.Provider, Model: in.Model, Origin: in.Origin, StateInIds: in.StateInIds}
}

func (in input) chunks() (*pb.AdaptRequest_Chunks, error) {
	chunks := &pb.Chunks{}
	for _, text := range in.Chunks {
		chunk, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, &canonical.Invalid{Message: "not base64", Path: "/chunks"}
		}
		chunks.Chunks = append(chunks.Chunks, chunk)
	}
	return &pb.AdaptRequest_Chunks{Chunks: chunks}, nil
}

func named(kind string) (proto.Message, error) {
	found, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName("interlingua.v1." + kind))
	if err != nil {
		return nil, &canonical.Invalid{Message: "there is no message of this name", Path: "/type"}
	}
	return found.New().Interface(), nil
}

func (p plug) hello() (object, error) {
	models, err := p.client.ListModels(p.ctx, &pb.ListModelsRequest{})
	if err != nil {
		return nil, err
	}
	without := []string{"hello", "bye", "cost", "encode", "decode"}
	var claimed []string
	for name := range operations {
		if !slices.Contains(without, name) {
			claimed = append(claimed, name)
		}
	}
	adapters := object{}
	for _, name := range models.GetAdapters() {
		adapters[name] = claimed
	}
	return object{
		"protocol":       1,
		"implementation": object{"name": "interlingua-go", "version": "0.1.0", "language": "go"},
		"adapters":       adapters,
		"operations":     []string{"cost"},
	}, nil
}

func (p plug) handle(line []byte) object {
	var message struct {
		Id, Input   raw
		Op, Adapter string
	}
	if err := json.Unmarshal(line, &message); err != nil {
		return object{"id": nil, "error": object{"category": "invalid_request", "message": "no message of the protocol"}}
	}
	answer := object{"id": message.Id}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	p.ctx = ctx
	output, err := p.output(message.Op, message.Adapter, message.Input)
	var invalid *canonical.Invalid
	var problem *interlingua.Error
	switch {
	case err == errUnknown:
		answer["unsupported"] = true
	case errors.As(err, &invalid):
		answer["error"] = object{"category": "invalid_request", "message": invalid.Message, "path": invalid.Path}
	case errors.As(err, &problem) && problem.Canonical != nil:
		if answer["error"], err = p.read(problem.Canonical); err != nil {
			answer["error"] = object{"category": "internal", "message": err.Error()}
		}
	case err != nil:
		answer["error"] = object{"category": "internal", "message": err.Error()}
	default:
		answer["output"] = output
	}
	return answer
}

var errUnknown = errors.New("no such operation")

func (p plug) output(name, adapter string, given raw) (object, error) {
	if name == "hello" {
		return p.hello()
	}
	operation, known := operations[name]
	if !known {
		return nil, errUnknown
	}
	var in input
	if err := json.Unmarshal(given, &in); err != nil {
		return nil, &canonical.Invalid{Message: "a member of the input has a wrong type", Path: ""}
	}
	return operation(p, adapter, in)
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: plug HOST:PORT SCHEMA")
		os.Exit(2)
	}
	schema, err := canonical.Load(os.Args[2])
	client, failed := interlingua.Dial(os.Args[1])
	if err = errors.Join(err, failed); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	lines, p := bufio.NewReader(os.Stdin), plug{nil, client, schema}
	for {
		line, end := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			text, _ := json.Marshal(p.handle(line))
			os.Stdout.Write(append(text, '\n'))
		}
		if end == io.EOF {
			return
		}
	}
}
