package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	cohere "github.com/cohere-ai/cohere-go/v2"
	cohereclient "github.com/cohere-ai/cohere-go/v2/client"
	"github.com/cohere-ai/cohere-go/v2/core"
	"github.com/cohere-ai/cohere-go/v2/option"
)

type cohereClient struct{ *cohereclient.Client }

func newCohere(url string) (client, error) {
	return cohereClient{cohereclient.NewClient(option.WithBaseURL(url), option.WithToken("none"), option.WithMaxAttempts(1))}, nil
}

func (cohereClient) limit(err error) (int, bool) {
	var limited *cohere.TooManyRequestsError
	var problem *core.APIError
	status := 0
	if errors.As(err, &problem) {
		status = problem.StatusCode
	}
	return status, errors.As(err, &limited)
}

func (c cohereClient) models(ctx context.Context) ([]string, error) {
	list, err := c.Models.List(ctx, &cohere.ModelsListRequest{})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, model := range list.Models {
		names = append(names, *model.Name)
	}
	return names, nil
}

func (cohereClient) request(asked asking, turn any) *cohere.V2ChatRequest {
	content := &cohere.UserMessageV2Content{String: asked.Question}
	if asked.Picture != "" {
		picture := &cohere.ImageContent{ImageUrl: &cohere.ImageUrl{Url: "data:image/png;base64," + asked.Picture}}
		content = &cohere.UserMessageV2Content{ContentList: []*cohere.Content{
			{Type: "text", Text: &cohere.ChatTextContent{Text: asked.Question}}, {Type: "image_url", ImageUrl: picture},
		}}
	}
	request := &cohere.V2ChatRequest{
		Model:    asked.Model,
		Messages: cohere.ChatMessages{{Role: "user", User: &cohere.UserMessageV2{Content: content}}},
	}
	if turn != nil {
		request.Messages = append(request.Messages, &cohere.ChatMessageV2{Role: "assistant", Assistant: turn.(*cohere.AssistantMessage)})
	}
	for _, result := range asked.Results {
		told := &cohere.ToolMessageV2{ToolCallId: result.Id, Content: &cohere.ToolMessageV2Content{String: result.Output}}
		request.Messages = append(request.Messages, &cohere.ChatMessageV2{Role: "tool", Tool: told})
	}
	if asked.Tool != nil {
		function := &cohere.ToolV2Function{Name: asked.Tool.Name, Parameters: asked.Tool.Parameters}
		request.Tools = []*cohere.ToolV2{{Type: cohere.String("function"), Function: function}}
	}
	if asked.Schema != nil {
		form := &cohere.JsonResponseFormatV2{JsonSchema: asked.Schema}
		request.ResponseFormat = &cohere.ResponseFormatV2{Type: "json_object", JsonObject: form}
	}
	return request
}

func (c cohereClient) ask(ctx context.Context, asked asking, turn any) (understood, error) {
	request := c.request(asked, turn)
	answer := c.whole
	if asked.Stream {
		answer = c.streamed
	}
	message, usage, err := answer(ctx, request)
	if err != nil {
		return understood{}, err
	}
	found := understood{turn: message}
	if message.ToolPlan != nil {
		found.text = *message.ToolPlan
	}
	if message.Content != nil {
		found.text += message.Content.String
	}
	for _, one := range message.ToolCalls {
		found.calls = append(found.calls, call{*one.Id, *one.Function.Name, parsed(*one.Function.Arguments)})
	}
	if usage != nil && usage.BilledUnits != nil {
		found.tokens = int64(*usage.BilledUnits.OutputTokens)
	}
	return found, nil
}

func (c cohereClient) whole(ctx context.Context, request *cohere.V2ChatRequest) (*cohere.AssistantMessage, *cohere.Usage, error) {
	answer, err := c.V2.Chat(ctx, request)
	if err != nil {
		return nil, nil, err
	}
	message := &cohere.AssistantMessage{ToolCalls: answer.Message.ToolCalls, ToolPlan: answer.Message.ToolPlan}
	for _, part := range answer.Message.Content {
		if part.Text != nil {
			add(message, part.Text.Text)
		}
	}
	return message, answer.Usage, nil
}

func add(message *cohere.AssistantMessage, text string) {
	if message.Content == nil {
		message.Content = &cohere.AssistantMessageV2Content{}
	}
	message.Content.String += text
}

func asChatStream(request *cohere.V2ChatRequest) *cohere.V2ChatStreamRequest {
	return &cohere.V2ChatStreamRequest{
		Model: request.Model, Messages: request.Messages, Tools: request.Tools, ResponseFormat: request.ResponseFormat,
	}
}

// next passes over what this SDK takes for events and is none: the line between two events, when it comes alone.
func next(stream *core.Stream[cohere.V2ChatStreamResponse]) (cohere.V2ChatStreamResponse, error) {
	for {
		event, err := stream.Recv()
		var noJson *json.SyntaxError
		if !errors.As(err, &noJson) {
			return event, err
		}
	}
}

func (c cohereClient) streamed(ctx context.Context, request *cohere.V2ChatRequest) (*cohere.AssistantMessage, *cohere.Usage, error) {
	stream, err := c.V2.ChatStream(ctx, asChatStream(request))
	if err != nil {
		return nil, nil, err
	}
	defer stream.Close()
	message := &cohere.AssistantMessage{}
	var usage *cohere.Usage
	for {
		event, err := next(stream)
		if errors.Is(err, io.EOF) {
			return message, usage, nil
		}
		if err != nil {
			return nil, nil, err
		}
		switch {
		case event.ToolPlanDelta != nil:
			plan := *event.ToolPlanDelta.Delta.Message.ToolPlan
			if message.ToolPlan != nil {
				plan = *message.ToolPlan + plan
			}
			message.ToolPlan = &plan
		case event.ContentDelta != nil:
			if text := event.ContentDelta.Delta.Message.Content.Text; text != nil {
				add(message, *text)
			}
		case event.ToolCallStart != nil:
			message.ToolCalls = append(message.ToolCalls, event.ToolCallStart.Delta.Message.ToolCalls)
		case event.ToolCallDelta != nil:
			called := message.ToolCalls[*event.ToolCallDelta.Index].Function
			called.Arguments = cohere.String(*called.Arguments + *event.ToolCallDelta.Delta.Message.ToolCalls.Function.Arguments)
		case event.MessageEnd != nil:
			usage = event.MessageEnd.Delta.Usage
		}
	}
}

func (c cohereClient) leave(ctx context.Context, asked asking) (string, error) {
	stream, err := c.V2.ChatStream(ctx, asChatStream(c.request(asked, nil)))
	if err != nil {
		return "", err
	}
	defer stream.Close()
	for {
		event, err := next(stream)
		if err != nil {
			return "", err
		}
		if event.ContentDelta != nil && event.ContentDelta.Delta.Message.Content.Text != nil {
			return *event.ContentDelta.Delta.Message.Content.Text, nil
		}
	}
}
