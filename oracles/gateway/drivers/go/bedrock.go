package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/document"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
)

type bedrockClient struct{ *bedrockruntime.Client }

func newBedrock(url string) (client, error) {
	return bedrockClient{bedrockruntime.New(bedrockruntime.Options{
		BaseEndpoint:     aws.String(url),
		Region:           "us-east-1",
		Credentials:      credentials.NewStaticCredentialsProvider("none", "none", ""),
		RetryMaxAttempts: 1,
	})}, nil
}

func (bedrockClient) limit(err error) (int, bool) {
	var limited *types.ThrottlingException
	var answered interface{ HTTPStatusCode() int }
	status := 0
	if errors.As(err, &answered) {
		status = answered.HTTPStatusCode()
	}
	return status, errors.As(err, &limited)
}

func (bedrockClient) request(asked asking, turn any) (*bedrockruntime.ConverseInput, error) {
	content := []types.ContentBlock{&types.ContentBlockMemberText{Value: asked.Question}}
	if asked.Picture != "" {
		picture, err := base64.StdEncoding.DecodeString(asked.Picture)
		if err != nil {
			return nil, err
		}
		image := types.ImageBlock{Format: types.ImageFormatPng, Source: &types.ImageSourceMemberBytes{Value: picture}}
		content = append(content, &types.ContentBlockMemberImage{Value: image})
	}
	request := &bedrockruntime.ConverseInput{
		ModelId:  aws.String(asked.Model),
		Messages: []types.Message{{Role: types.ConversationRoleUser, Content: content}},
	}
	if turn != nil {
		var results []types.ContentBlock
		for _, result := range asked.Results {
			told := []types.ToolResultContentBlock{&types.ToolResultContentBlockMemberText{Value: result.Output}}
			block := types.ToolResultBlock{ToolUseId: aws.String(result.Id), Content: told}
			results = append(results, &types.ContentBlockMemberToolResult{Value: block})
		}
		request.Messages = append(request.Messages,
			types.Message{Role: types.ConversationRoleAssistant, Content: turn.([]types.ContentBlock)},
			types.Message{Role: types.ConversationRoleUser, Content: results})
	}
	if asked.Tool != nil {
		schema := &types.ToolInputSchemaMemberJson{Value: document.NewLazyDocument(asked.Tool.Parameters)}
		spec := types.ToolSpecification{Name: aws.String(asked.Tool.Name), InputSchema: schema}
		request.ToolConfig = &types.ToolConfiguration{Tools: []types.Tool{&types.ToolMemberToolSpec{Value: spec}}}
	}
	if asked.Schema != nil {
		schema, err := json.Marshal(asked.Schema)
		if err != nil {
			return nil, err
		}
		form := types.JsonSchemaDefinition{Name: aws.String("n"), Schema: aws.String(string(schema))}
		request.OutputConfig = &types.OutputConfig{TextFormat: &types.OutputFormat{
			Type: types.OutputFormatTypeJsonSchema, Structure: &types.OutputFormatStructureMemberJsonSchema{Value: form},
		}}
	}
	return request, nil
}

func (c bedrockClient) ask(ctx context.Context, asked asking, turn any) (understood, error) {
	request, err := c.request(asked, turn)
	if err != nil {
		return understood{}, err
	}
	blocks, usage, err := c.answer(ctx, request, asked.Stream)
	if err != nil {
		return understood{}, err
	}
	found := understood{tokens: int64(aws.ToInt32(usage.OutputTokens)), turn: blocks}
	for _, block := range blocks {
		switch one := block.(type) {
		case *types.ContentBlockMemberText:
			found.text += one.Value
		case *types.ContentBlockMemberToolUse:
			input, err := one.Value.Input.MarshalSmithyDocument()
			if err != nil {
				return understood{}, err
			}
			found.calls = append(found.calls, call{*one.Value.ToolUseId, *one.Value.Name, json.RawMessage(input)})
		}
	}
	return found, nil
}

func (c bedrockClient) answer(
	ctx context.Context, request *bedrockruntime.ConverseInput, streamed bool,
) ([]types.ContentBlock, *types.TokenUsage, error) {
	if streamed {
		return c.streamed(ctx, request)
	}
	answer, err := c.Converse(ctx, request)
	if err != nil {
		return nil, nil, err
	}
	return answer.Output.(*types.ConverseOutputMemberMessage).Value.Content, answer.Usage, nil
}

func asStream(request *bedrockruntime.ConverseInput) *bedrockruntime.ConverseStreamInput {
	return &bedrockruntime.ConverseStreamInput{
		ModelId: request.ModelId, Messages: request.Messages, ToolConfig: request.ToolConfig, OutputConfig: request.OutputConfig,
	}
}

func (c bedrockClient) streamed(
	ctx context.Context, request *bedrockruntime.ConverseInput,
) ([]types.ContentBlock, *types.TokenUsage, error) {
	answer, err := c.ConverseStream(ctx, asStream(request))
	if err != nil {
		return nil, nil, err
	}
	stream := answer.GetStream()
	defer stream.Close()
	var blocks []types.ContentBlock
	var inputs []string
	var usage *types.TokenUsage
	block := func(index *int32, fresh types.ContentBlock) types.ContentBlock {
		if int(*index) == len(blocks) {
			blocks, inputs = append(blocks, fresh), append(inputs, "")
		}
		return blocks[*index]
	}
	for event := range stream.Events() {
		switch one := event.(type) {
		case *types.ConverseStreamOutputMemberContentBlockStart:
			if start, called := one.Value.Start.(*types.ContentBlockStartMemberToolUse); called {
				use := types.ToolUseBlock{ToolUseId: start.Value.ToolUseId, Name: start.Value.Name}
				block(one.Value.ContentBlockIndex, &types.ContentBlockMemberToolUse{Value: use})
			}
		case *types.ConverseStreamOutputMemberContentBlockDelta:
			index := one.Value.ContentBlockIndex
			switch delta := one.Value.Delta.(type) {
			case *types.ContentBlockDeltaMemberText:
				block(index, &types.ContentBlockMemberText{}).(*types.ContentBlockMemberText).Value += delta.Value
			case *types.ContentBlockDeltaMemberToolUse:
				inputs[*index] += aws.ToString(delta.Value.Input)
			case *types.ContentBlockDeltaMemberReasoningContent:
				if told, thought := delta.Value.(*types.ReasoningContentBlockDeltaMemberText); thought {
					reasoning := &types.ReasoningContentBlockMemberReasoningText{}
					known := block(index, &types.ContentBlockMemberReasoningContent{Value: reasoning})
					text := known.(*types.ContentBlockMemberReasoningContent).Value.(*types.ReasoningContentBlockMemberReasoningText)
					text.Value.Text = aws.String(aws.ToString(text.Value.Text) + told.Value)
				}
			}
		case *types.ConverseStreamOutputMemberMetadata:
			usage = one.Value.Usage
		}
	}
	for index, one := range blocks {
		if use, called := one.(*types.ContentBlockMemberToolUse); called {
			use.Value.Input = document.NewLazyDocument(parsed(inputs[index]))
		}
	}
	return blocks, usage, stream.Err()
}

func (c bedrockClient) leave(ctx context.Context, asked asking) (string, error) {
	request, err := c.request(asked, nil)
	if err != nil {
		return "", err
	}
	answer, err := c.ConverseStream(ctx, asStream(request))
	if err != nil {
		return "", err
	}
	stream := answer.GetStream()
	defer stream.Close()
	for event := range stream.Events() {
		if one, told := event.(*types.ConverseStreamOutputMemberContentBlockDelta); told {
			if delta, text := one.Value.Delta.(*types.ContentBlockDeltaMemberText); text {
				return delta.Value, nil
			}
		}
	}
	return "", stream.Err()
}
