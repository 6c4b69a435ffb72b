// The tour: adapt, route, a typed error, a streamed answer with a tool loop, and a model that is swapped in
// mid-conversation. `interlingua serve --replay` answers it without a key and without a network.
//
//	go run ./examples/tour localhost:50051
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math/big"
	"os"

	interlingua "github.com/interlingua/interlingua/clients/go"
	pb "github.com/interlingua/interlingua/clients/go/interlinguav1"
)

const (
	first  = "replay:claude-opus-4-8"
	second = "replay:gpt-5.4"
	photo  = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
)

var tools = []*pb.Tool{
	{
		Name:            "read_gauge",
		Description:     text("Read the pressure of a pump. Pump B has a camera."),
		InputSchemaJson: `{"type": "object", "properties": {"pump": {"type": "string"}}, "required": ["pump"]}`,
		SideEffects:     pb.SideEffects_SIDE_EFFECTS_READ,
	},
	{
		Name:            "file_log_entry",
		Description:     text("File an entry in the log of the shift."),
		InputSchemaJson: `{"type": "object", "properties": {"entry": {"type": "string"}}}`,
		SideEffects:     pb.SideEffects_SIDE_EFFECTS_WRITE,
	},
}

// run carries a call out.
func run(call *pb.ToolUseBlock) []*pb.ContentBlock {
	input, err := interlingua.ReadJSON(call.GetInputJson())
	check(err)
	arguments := input.(map[string]any)
	switch {
	case call.GetName() == "file_log_entry":
		return []*pb.ContentBlock{interlingua.TextBlock("entry 2207 filed")}
	case arguments["pump"] == "B":
		source := &pb.MediaSource{Kind: pb.MediaSourceKind_MEDIA_SOURCE_KIND_BASE64, Data: text(photo)}
		image := &pb.ImageBlock{Source: source, MediaType: text("image/png")}
		return []*pb.ContentBlock{{Block: &pb.ContentBlock_Image{Image: image}}}
	}
	return []*pb.ContentBlock{interlingua.TextBlock("4.1 bar")}
}

func main() {
	client, err := interlingua.Dial(os.Args[1], options()...)
	check(err)
	defer client.Close()
	ctx := context.Background()
	conversation := &pb.Request{
		Messages:        []*pb.Message{interlingua.Text(pb.Role_ROLE_SYSTEM, "You watch the pumps of a water works.")},
		Tools:           tools,
		MaxOutputTokens: number(1024),
	}
	spent := new(big.Rat)
	turn(ctx, client, conversation, first, "Are pumps A and B all right?", spent)

	fmt.Printf("route %s,%s\n", first, second)
	chosen, err := client.Route(ctx, &pb.RouteRequest{
		Conversation:   &pb.RouteRequest_Request{Request: conversation},
		Target:         first + "," + second,
		PolicyJson:     `{"version": 1, "chains": true}`,
		WithCandidates: true,
	})
	check(err)
	for _, candidate := range chosen.GetCandidates() {
		fmt.Printf("  %s would lose %d\n", candidate.GetModel(), len(candidate.GetLoss()))
	}

	fmt.Printf("swap to %s\n", second)
	adapt := &pb.AdaptRequest{
		Input:  &pb.AdaptRequest_Request{Request: conversation},
		Target: &pb.Side{Adapter: "openai_chat"},
	}
	carried, err := client.Adapt(ctx, adapt)
	check(err)
	for _, entry := range carried.GetLoss() {
		fmt.Printf("  %s %s %s\n", interlingua.Word(entry.GetSeverity()), entry.GetPath(), entry.GetCode())
	}

	adapt.LossPolicy = &pb.LossPolicy{Strict: pb.LossSeverity_LOSS_SEVERITY_WEAKENED}
	_, err = client.Adapt(ctx, adapt)
	var problem *interlingua.Error
	if !errors.As(err, &problem) {
		log.Fatal("the loss was not refused")
	}
	fmt.Printf("refused: %s, %d entries\n", interlingua.Word(problem.Category), len(problem.Loss))

	turn(ctx, client, conversation, second, "Put that into the log of the shift.", spent)
	fmt.Printf("spent %s USD\n", spent.FloatString(6))
}

// turn asks a model, carries its calls out, and asks again until it calls nothing more.
func turn(ctx context.Context, client *interlingua.Client, conversation *pb.Request, model, words string, spent *big.Rat) {
	conversation.Messages = append(conversation.Messages, interlingua.Text(pb.Role_ROLE_USER, words))
	for range 5 {
		response := ask(ctx, client, conversation, model)
		cost, err := interlingua.Decimal(response.GetUsage().GetCostUsd())
		check(err)
		spent.Add(spent, cost)
		conversation.Messages = append(conversation.Messages, response.GetMessage())
		calls := interlingua.Calls(response.GetMessage())
		if len(calls) == 0 {
			return
		}
		for _, call := range calls {
			fmt.Printf("  tool %s %s\n", call.GetName(), call.GetInputJson())
			conversation.Messages = append(conversation.Messages, interlingua.ToolResult(call, run(call)...))
		}
	}
}

// ask streams one answer.
func ask(ctx context.Context, client *interlingua.Client, conversation *pb.Request, model string) *pb.Response {
	request := &pb.GenerateStreamRequest{
		Conversation: &pb.GenerateStreamRequest_Request{Request: conversation},
		Target:       model,
	}
	fmt.Printf("%s: ", model)
	var response *pb.Response
	for piece, err := range client.Stream(ctx, request) {
		check(err)
		switch event := piece.GetEvent().GetEvent().(type) {
		case *pb.StreamEvent_TextDelta:
			fmt.Print(event.TextDelta.GetText())
		case *pb.StreamEvent_MessageComplete:
			response = event.MessageComplete.GetResponse()
		}
	}
	fmt.Printf("\n  %s, %s USD\n", interlingua.Word(response.GetFinishReason()), response.GetUsage().GetCostUsd())
	return response
}

func options() []interlingua.Option {
	if token := os.Getenv("INTERLINGUA_TOKEN"); token != "" {
		return []interlingua.Option{interlingua.WithToken(token)}
	}
	return nil
}

func text(text string) *string { return &text }

func number(number int32) *int32 { return &number }

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
