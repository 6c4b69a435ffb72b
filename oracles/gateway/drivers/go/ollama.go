package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"

	"github.com/ollama/ollama/api"
)

type ollamaClient struct{ *api.Client }

func newOllama(address string) (client, error) {
	base, err := url.Parse(address)
	return ollamaClient{api.NewClient(base, http.DefaultClient)}, err
}

func (ollamaClient) limit(err error) (int, bool) {
	var problem api.StatusError
	if !errors.As(err, &problem) {
		return 0, false
	}
	return problem.StatusCode, problem.StatusCode == 429
}

func (c ollamaClient) models(ctx context.Context) ([]string, error) {
	list, err := c.List(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, model := range list.Models {
		names = append(names, model.Model)
	}
	return names, nil
}

func (ollamaClient) request(asked asking, turn any) (*api.ChatRequest, error) {
	question := api.Message{Role: "user", Content: asked.Question}
	if asked.Picture != "" {
		picture, err := base64.StdEncoding.DecodeString(asked.Picture)
		if err != nil {
			return nil, err
		}
		question.Images = []api.ImageData{picture}
	}
	request := &api.ChatRequest{Model: asked.Model, Messages: []api.Message{question}, Stream: &asked.Stream}
	if turn != nil {
		request.Messages = append(request.Messages, turn.(api.Message))
	}
	for _, result := range asked.Results {
		request.Messages = append(request.Messages, api.Message{
			Role: "tool", Content: result.Output, ToolName: result.Name, ToolCallID: result.Id,
		})
	}
	if asked.Tool != nil {
		tool := api.Tool{Type: "function", Function: api.ToolFunction{Name: asked.Tool.Name}}
		text, err := json.Marshal(asked.Tool.Parameters)
		if err = errors.Join(err, json.Unmarshal(text, &tool.Function.Parameters)); err != nil {
			return nil, err
		}
		request.Tools = api.Tools{tool}
	}
	if asked.Schema != nil {
		var err error
		if request.Format, err = json.Marshal(asked.Schema); err != nil {
			return nil, err
		}
	}
	return request, nil
}

func (c ollamaClient) ask(ctx context.Context, asked asking, turn any) (understood, error) {
	request, err := c.request(asked, turn)
	if err != nil {
		return understood{}, err
	}
	var found understood
	whole := api.Message{Role: "assistant"}
	err = c.Chat(ctx, request, func(answer api.ChatResponse) error {
		whole.Content += answer.Message.Content
		whole.Thinking += answer.Message.Thinking
		whole.ToolCalls = append(whole.ToolCalls, answer.Message.ToolCalls...)
		found.tokens = int64(answer.EvalCount)
		return nil
	})
	for _, one := range whole.ToolCalls {
		found.calls = append(found.calls, call{one.ID, one.Function.Name, one.Function.Arguments})
	}
	found.text, found.turn = whole.Content, whole
	return found, err
}

var errLeft = errors.New("left")

func (c ollamaClient) leave(ctx context.Context, asked asking) (string, error) {
	request, err := c.request(asked, nil)
	if err != nil {
		return "", err
	}
	var text string
	err = c.Chat(ctx, request, func(answer api.ChatResponse) error {
		if text = answer.Message.Content; text != "" {
			return errLeft
		}
		return nil
	})
	if errors.Is(err, errLeft) {
		err = nil
	}
	return text, err
}
