package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
)

type openaiClient struct{ openai.Client }

func connectOpenai(url string) openaiClient {
	return openaiClient{openai.NewClient(option.WithBaseURL(url+"/v1"), option.WithAPIKey("none"), option.WithMaxRetries(0))}
}

func (openaiClient) limit(err error) (int, bool) {
	var problem *openai.Error
	if !errors.As(err, &problem) {
		return 0, false
	}
	return problem.StatusCode, problem.StatusCode == 429
}

func (c openaiClient) models(ctx context.Context) ([]string, error) {
	pages := c.Models.ListAutoPaging(ctx)
	var names []string
	for pages.Next() {
		names = append(names, pages.Current().ID)
	}
	return names, pages.Err()
}

type chat struct{ openaiClient }

func newChat(url string) (client, error) { return chat{connectOpenai(url)}, nil }

func (chat) request(asked asking, turn any) openai.ChatCompletionNewParams {
	question := openai.UserMessage(asked.Question)
	if asked.Picture != "" {
		question = openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{
			openai.TextContentPart(asked.Question),
			openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: "data:image/png;base64," + asked.Picture}),
		})
	}
	request := openai.ChatCompletionNewParams{
		Model:    asked.Model,
		Messages: []openai.ChatCompletionMessageParamUnion{question},
	}
	if turn != nil {
		request.Messages = append(request.Messages, turn.(openai.ChatCompletionMessage).ToParam())
	}
	for _, result := range asked.Results {
		request.Messages = append(request.Messages, openai.ToolMessage(result.Output, result.Id))
	}
	if asked.Tool != nil {
		request.Tools = []openai.ChatCompletionToolUnionParam{
			openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{Name: asked.Tool.Name, Parameters: asked.Tool.Parameters}),
		}
	}
	if asked.Schema != nil {
		format := shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "n", Schema: asked.Schema, Strict: openai.Bool(true)}
		request.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: format}
	}
	return request
}

func (c chat) ask(ctx context.Context, asked asking, turn any) (understood, error) {
	answer, err := c.answer(ctx, asked, turn)
	if err != nil {
		return understood{}, err
	}
	message := answer.Choices[0].Message
	found := understood{text: message.Content, tokens: answer.Usage.CompletionTokens, turn: message}
	for _, one := range message.ToolCalls {
		found.calls = append(found.calls, call{one.ID, one.Function.Name, parsed(one.Function.Arguments)})
	}
	return found, nil
}

func (c chat) answer(ctx context.Context, asked asking, turn any) (*openai.ChatCompletion, error) {
	request := c.request(asked, turn)
	if !asked.Stream {
		return c.Chat.Completions.New(ctx, request)
	}
	request.StreamOptions.IncludeUsage = openai.Bool(true)
	stream := c.Chat.Completions.NewStreaming(ctx, request)
	defer stream.Close()
	var whole openai.ChatCompletionAccumulator
	for stream.Next() {
		if !whole.AddChunk(stream.Current()) {
			return nil, errors.New("the accumulator takes no such chunk")
		}
	}
	return &whole.ChatCompletion, stream.Err()
}

func (c chat) leave(ctx context.Context, asked asking) (string, error) {
	stream := c.Chat.Completions.NewStreaming(ctx, c.request(asked, nil))
	defer stream.Close()
	for stream.Next() {
		if chunk := stream.Current(); len(chunk.Choices) > 0 && chunk.Choices[0].Delta.Content != "" {
			return chunk.Choices[0].Delta.Content, nil
		}
	}
	return "", stream.Err()
}

type responsesClient struct{ openaiClient }

func newResponses(url string) (client, error) { return responsesClient{connectOpenai(url)}, nil }

func (responsesClient) request(asked asking, turn any) (responses.ResponseNewParams, error) {
	content := responses.ResponseInputMessageContentListParam{responses.ResponseInputContentParamOfInputText(asked.Question)}
	if asked.Picture != "" {
		image := responses.ResponseInputContentParamOfInputImage(responses.ResponseInputImageDetailAuto)
		image.OfInputImage.ImageURL = openai.String("data:image/png;base64," + asked.Picture)
		content = append(content, image)
	}
	items := responses.ResponseInputParam{
		responses.ResponseInputItemParamOfMessage(content, responses.EasyInputMessageRoleUser),
	}
	if turn != nil {
		for _, item := range turn.([]responses.ResponseOutputItemUnion) {
			items = append(items, param.Override[responses.ResponseInputItemUnionParam](json.RawMessage(item.RawJSON())))
		}
	}
	for _, result := range asked.Results {
		output := responses.ResponseInputItemParamOfFunctionCallOutput(result.Output)
		output.OfFunctionCallOutput.CallID = openai.String(result.Id)
		items = append(items, output)
	}
	request := responses.ResponseNewParams{Model: asked.Model}
	request.Input.OfInputItemList = items
	if asked.Tool != nil {
		request.Tools = []responses.ToolUnionParam{responses.ToolParamOfFunction(asked.Tool.Name, asked.Tool.Parameters, false)}
	}
	if asked.Schema != nil {
		request.Text.Format = responses.ResponseFormatTextConfigParamOfJSONSchema("n", asked.Schema)
		request.Text.Format.OfJSONSchema.Strict = openai.Bool(true)
	}
	return request, nil
}

func (c responsesClient) ask(ctx context.Context, asked asking, turn any) (understood, error) {
	answer, err := c.answer(ctx, asked, turn)
	if err != nil {
		return understood{}, err
	}
	found := understood{text: answer.OutputText(), tokens: answer.Usage.OutputTokens, turn: answer.Output}
	for _, item := range answer.Output {
		if one, called := item.AsAny().(responses.ResponseFunctionToolCall); called {
			found.calls = append(found.calls, call{one.CallID, one.Name, parsed(one.Arguments)})
		}
	}
	return found, nil
}

func (c responsesClient) answer(ctx context.Context, asked asking, turn any) (*responses.Response, error) {
	request, err := c.request(asked, turn)
	if err != nil {
		return nil, err
	}
	if !asked.Stream {
		return c.Responses.New(ctx, request)
	}
	stream := c.Responses.NewStreaming(ctx, request)
	defer stream.Close()
	for stream.Next() {
		if done, ended := stream.Current().AsAny().(responses.ResponseCompletedEvent); ended {
			return &done.Response, nil
		}
	}
	return nil, errors.Join(errors.New("the stream did not complete"), stream.Err())
}

func (c responsesClient) leave(ctx context.Context, asked asking) (string, error) {
	request, err := c.request(asked, nil)
	if err != nil {
		return "", err
	}
	stream := c.Responses.NewStreaming(ctx, request)
	defer stream.Close()
	for stream.Next() {
		if delta, told := stream.Current().AsAny().(responses.ResponseTextDeltaEvent); told {
			return delta.Delta, nil
		}
	}
	return "", stream.Err()
}
