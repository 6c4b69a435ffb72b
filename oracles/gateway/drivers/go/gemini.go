package main

import (
	"context"
	"encoding/base64"
	"errors"

	"google.golang.org/genai"
)

type geminiClient struct{ *genai.Client }

func newGemini(url string) (client, error) {
	made, err := genai.NewClient(context.Background(), &genai.ClientConfig{
		APIKey: "none", Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: url},
	})
	return geminiClient{made}, err
}

func (geminiClient) limit(err error) (int, bool) {
	var problem genai.APIError
	if !errors.As(err, &problem) {
		return 0, false
	}
	return problem.Code, problem.Code == 429
}

func (c geminiClient) models(ctx context.Context) ([]string, error) {
	var names []string
	for model, err := range c.Models.All(ctx) {
		if err != nil {
			return nil, err
		}
		names = append(names, model.Name[len("models/"):])
	}
	return names, nil
}

func (c geminiClient) count(ctx context.Context, asked asking) (int64, error) {
	counted, err := c.Models.CountTokens(ctx, asked.Model, genai.Text(asked.Question), nil)
	if err != nil {
		return 0, err
	}
	return int64(counted.TotalTokens), nil
}

func (geminiClient) request(asked asking, turn any) ([]*genai.Content, *genai.GenerateContentConfig, error) {
	parts := []*genai.Part{genai.NewPartFromText(asked.Question)}
	if asked.Picture != "" {
		picture, err := base64.StdEncoding.DecodeString(asked.Picture)
		if err != nil {
			return nil, nil, err
		}
		parts = append(parts, genai.NewPartFromBytes(picture, "image/png"))
	}
	contents := []*genai.Content{genai.NewContentFromParts(parts, genai.RoleUser)}
	if turn != nil {
		var results []*genai.Part
		for _, result := range asked.Results {
			answer := genai.FunctionResponse{ID: result.Id, Name: result.Name, Response: map[string]any{"output": result.Output}}
			results = append(results, &genai.Part{FunctionResponse: &answer})
		}
		contents = append(contents, turn.(*genai.Content), genai.NewContentFromParts(results, genai.RoleUser))
	}
	config := &genai.GenerateContentConfig{}
	if asked.Tool != nil {
		declared := &genai.FunctionDeclaration{Name: asked.Tool.Name, ParametersJsonSchema: asked.Tool.Parameters}
		config.Tools = []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{declared}}}
	}
	if asked.Schema != nil {
		config.ResponseMIMEType, config.ResponseJsonSchema = "application/json", asked.Schema
	}
	return contents, config, nil
}

func (c geminiClient) ask(ctx context.Context, asked asking, turn any) (understood, error) {
	chunks, err := c.chunks(ctx, asked, turn)
	if err != nil {
		return understood{}, err
	}
	var found understood
	var parts []*genai.Part
	for _, chunk := range chunks {
		if chunk.UsageMetadata != nil {
			found.tokens = int64(chunk.UsageMetadata.CandidatesTokenCount)
		}
		if len(chunk.Candidates) > 0 && chunk.Candidates[0].Content != nil {
			parts = append(parts, chunk.Candidates[0].Content.Parts...)
		}
	}
	for _, part := range parts {
		if !part.Thought {
			found.text += part.Text
		}
		if one := part.FunctionCall; one != nil {
			found.calls = append(found.calls, call{one.ID, one.Name, one.Args})
		}
	}
	found.turn = genai.NewContentFromParts(parts, genai.RoleModel)
	return found, nil
}

func (c geminiClient) chunks(ctx context.Context, asked asking, turn any) ([]*genai.GenerateContentResponse, error) {
	contents, config, err := c.request(asked, turn)
	if err != nil {
		return nil, err
	}
	if !asked.Stream {
		answer, err := c.Models.GenerateContent(ctx, asked.Model, contents, config)
		return []*genai.GenerateContentResponse{answer}, err
	}
	var chunks []*genai.GenerateContentResponse
	for chunk, err := range c.Models.GenerateContentStream(ctx, asked.Model, contents, config) {
		if err != nil {
			return nil, err
		}
		chunks = append(chunks, chunk)
	}
	return chunks, nil
}

func (c geminiClient) leave(ctx context.Context, asked asking) (string, error) {
	contents, config, err := c.request(asked, nil)
	if err != nil {
		return "", err
	}
	for chunk, err := range c.Models.GenerateContentStream(ctx, asked.Model, contents, config) {
		if err != nil || chunk.Text() != "" {
			return chunk.Text(), err
		}
	}
	return "", nil
}
