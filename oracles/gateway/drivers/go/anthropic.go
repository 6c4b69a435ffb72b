package main

import (
	"context"
	"errors"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
)

type anthropicClient struct{ anthropic.Client }

func newAnthropic(url string) (client, error) {
	made := anthropic.NewClient(option.WithBaseURL(url), option.WithAPIKey("none"), option.WithMaxRetries(0))
	return anthropicClient{made}, nil
}

func (anthropicClient) limit(err error) (int, bool) {
	var problem *anthropic.Error
	if !errors.As(err, &problem) {
		return 0, false
	}
	return problem.StatusCode, problem.StatusCode == 429
}

func (c anthropicClient) models(ctx context.Context) ([]string, error) {
	pages := c.Models.ListAutoPaging(ctx, anthropic.ModelListParams{})
	var names []string
	for pages.Next() {
		names = append(names, pages.Current().ID)
	}
	return names, pages.Err()
}

func (c anthropicClient) count(ctx context.Context, asked asking) (int64, error) {
	counted, err := c.Messages.CountTokens(ctx, anthropic.MessageCountTokensParams{
		Model:    anthropic.Model(asked.Model),
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(asked.Question))},
	})
	if err != nil {
		return 0, err
	}
	return counted.InputTokens, nil
}

func (anthropicClient) request(asked asking, turn any) anthropic.MessageNewParams {
	content := []anthropic.ContentBlockParamUnion{anthropic.NewTextBlock(asked.Question)}
	if asked.Picture != "" {
		content = append(content, anthropic.NewImageBlockBase64("image/png", asked.Picture))
	}
	request := anthropic.MessageNewParams{
		Model:     anthropic.Model(asked.Model),
		MaxTokens: 100,
		Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(content...)},
	}
	if turn != nil {
		var results []anthropic.ContentBlockParamUnion
		for _, result := range asked.Results {
			results = append(results, anthropic.NewToolResultBlock(result.Id, result.Output, false))
		}
		request.Messages = append(request.Messages, turn.(anthropic.Message).ToParam(), anthropic.NewUserMessage(results...))
	}
	if asked.Tool != nil {
		schema := anthropic.ToolInputSchemaParam{Properties: asked.Tool.Parameters["properties"], Required: []string{"path"}}
		request.Tools = []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{Name: asked.Tool.Name, InputSchema: schema}}}
	}
	if asked.Schema != nil {
		request.OutputConfig.Format.Schema = asked.Schema
	}
	return request
}

func (c anthropicClient) ask(ctx context.Context, asked asking, turn any) (understood, error) {
	answer, err := c.answer(ctx, asked, turn)
	if err != nil {
		return understood{}, err
	}
	found := understood{tokens: answer.Usage.OutputTokens, turn: *answer}
	for _, block := range answer.Content {
		switch one := block.AsAny().(type) {
		case anthropic.TextBlock:
			found.text += one.Text
		case anthropic.ToolUseBlock:
			found.calls = append(found.calls, call{one.ID, one.Name, one.Input})
		}
	}
	return found, nil
}

func (c anthropicClient) answer(ctx context.Context, asked asking, turn any) (*anthropic.Message, error) {
	request := c.request(asked, turn)
	if !asked.Stream {
		return c.Messages.New(ctx, request)
	}
	stream := c.Messages.NewStreaming(ctx, request)
	defer stream.Close()
	var whole anthropic.Message
	for stream.Next() {
		if err := whole.Accumulate(stream.Current()); err != nil {
			return nil, err
		}
	}
	return &whole, stream.Err()
}

func (c anthropicClient) leave(ctx context.Context, asked asking) (string, error) {
	stream := c.Messages.NewStreaming(ctx, c.request(asked, nil))
	defer stream.Close()
	for stream.Next() {
		if event := stream.Current(); event.Type == "content_block_delta" && event.Delta.Text != "" {
			return event.Delta.Text, nil
		}
	}
	return "", stream.Err()
}
