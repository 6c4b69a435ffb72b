// The official Go SDKs as clients of a gateway. What is asked and answered is told in ../README.md.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// asking is what one SDK is to ask.
type asking struct {
	Do, Sdk, Url, Model, Question, Picture string
	Stream                                 bool
	Tool                                   *struct {
		Name       string
		Parameters map[string]any
	}
	Schema  map[string]any
	Turn    *int
	Results []struct{ Id, Name, Output string }
}

// call is the id, the name and the input of a call.
type call [3]any

// understood is what an SDK read of an answer; turn is its own form of it, to be sent back.
type understood struct {
	text   string
	calls  []call
	tokens int64
	turn   any
}

type client interface {
	ask(ctx context.Context, asked asking, turn any) (understood, error)
	// leave gives the first text of a stream and goes away.
	leave(ctx context.Context, asked asking) (string, error)
	// limit tells the status of an error, and whether it is of the kind that the SDK has for a rate limit.
	limit(err error) (int, bool)
}

type lister interface {
	models(ctx context.Context) ([]string, error)
}

type counter interface {
	count(ctx context.Context, asked asking) (int64, error)
}

var sdks = map[string]func(url string) (client, error){
	"openai-chat":      newChat,
	"openai-responses": newResponses,
	"anthropic":        newAnthropic,
	"google-genai":     newGemini,
	"ollama":           newOllama,
	"bedrock":          newBedrock,
	"cohere":           newCohere,
}

type driver struct {
	clients map[string]client
	turns   []any
}

func (d *driver) do(asked asking) map[string]any {
	name := asked.Sdk + " " + asked.Url
	sdk := d.clients[name]
	if sdk == nil {
		made, err := sdks[asked.Sdk](asked.Url)
		if err != nil {
			return map[string]any{"error": fmt.Sprintf("%T", err), "limited": false, "message": err.Error()}
		}
		sdk = made
		d.clients[name] = sdk
	}
	output, err := d.output(context.Background(), sdk, asked)
	if err != nil {
		status, limited := sdk.limit(err)
		return map[string]any{"error": fmt.Sprintf("%T", err), "limited": limited, "status": status, "message": err.Error()}
	}
	return output
}

func (d *driver) output(ctx context.Context, sdk client, asked asking) (map[string]any, error) {
	switch asked.Do {
	case "models":
		models, err := sdk.(lister).models(ctx)
		return map[string]any{"models": models}, err
	case "count":
		tokens, err := sdk.(counter).count(ctx, asked)
		return map[string]any{"tokens": tokens}, err
	case "leave":
		text, err := sdk.leave(ctx, asked)
		return map[string]any{"text": text}, err
	}
	var turn any
	if asked.Turn != nil {
		turn = d.turns[*asked.Turn]
	}
	answer, err := sdk.ask(ctx, asked, turn)
	if err != nil {
		return nil, err
	}
	d.turns = append(d.turns, answer.turn)
	if answer.calls == nil {
		answer.calls = []call{}
	}
	return map[string]any{
		"text": answer.text, "calls": answer.calls, "output_tokens": answer.tokens, "turn": len(d.turns) - 1,
	}, nil
}

func parsed(arguments string) any {
	var value any
	if json.Unmarshal([]byte(arguments), &value) != nil {
		return arguments
	}
	return value
}

func main() {
	lines := bufio.NewReader(os.Stdin)
	d := driver{clients: map[string]client{}}
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return
		}
		var asked asking
		if err := json.Unmarshal(line, &asked); err != nil {
			panic(err)
		}
		text, err := json.Marshal(d.do(asked))
		if err != nil {
			panic(err)
		}
		os.Stdout.Write(append(text, '\n'))
	}
}
