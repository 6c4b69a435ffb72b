// The official JavaScript SDKs as clients of a gateway. What is asked and answered is told in ../README.md.

import { createInterface } from "node:readline";

import Anthropic from "@anthropic-ai/sdk";
import {
  BedrockRuntimeClient,
  ConverseCommand,
  ConverseStreamCommand,
  ThrottlingException,
} from "@aws-sdk/client-bedrock-runtime";
import { ApiError, GoogleGenAI } from "@google/genai";
import { Mistral } from "@mistralai/mistralai";
import { SDKError } from "@mistralai/mistralai/models/errors";
import { CohereClientV2, CohereError } from "cohere-ai";
import { Ollama } from "ollama";
import OpenAI from "openai";

async function collected(pieces) {
  const all = [];
  for await (const piece of pieces) all.push(piece);
  return all;
}

const openaiChat = {
  connect: (url) => new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0 }),
  limited: (error) => error instanceof OpenAI.RateLimitError,
  models: async (client) => (await collected(client.models.list())).map((model) => model.id),

  request({ model, question, picture, tool, schema, results }, turn) {
    const image = { type: "image_url", image_url: { url: `data:image/png;base64,${picture}` } };
    const asked = { role: "user", content: picture ? [{ type: "text", text: question }, image] : question };
    const told = results.map(({ id, output }) => ({ role: "tool", tool_call_id: id, content: output }));
    return {
      model,
      messages: turn ? [asked, turn, ...told] : [asked],
      ...(tool && { tools: [{ type: "function", function: { name: tool.name, parameters: tool.parameters } }] }),
      ...(schema && { response_format: { type: "json_schema", json_schema: { name: "n", schema, strict: true } } }),
    };
  },

  async ask(client, asking, turn) {
    const request = this.request(asking, turn);
    const answer = asking.stream
      ? await client.chat.completions.stream({ ...request, stream_options: { include_usage: true } }).finalChatCompletion()
      : await client.chat.completions.create(request);
    const message = answer.choices[0].message;
    const calls = (message.tool_calls ?? []).map((call) => [call.id, call.function.name, JSON.parse(call.function.arguments)]);
    return { text: message.content ?? "", calls, output_tokens: answer.usage?.completion_tokens, turn: message };
  },

  async leave(client, asking) {
    for await (const chunk of await client.chat.completions.create({ ...this.request(asking), stream: true })) {
      if (chunk.choices[0]?.delta.content) return chunk.choices[0].delta.content;
    }
  },
};

const openaiResponses = {
  ...openaiChat,

  request({ model, question, picture, tool, schema, results }, turn) {
    const content = [{ type: "input_text", text: question }];
    if (picture) content.push({ type: "input_image", image_url: `data:image/png;base64,${picture}`, detail: "auto" });
    const told = results.map(({ id, output }) => ({ type: "function_call_output", call_id: id, output }));
    return {
      model,
      input: [{ role: "user", content }, ...(turn ?? []), ...told],
      ...(tool && { tools: [{ type: "function", name: tool.name, parameters: tool.parameters, strict: false }] }),
      ...(schema && { text: { format: { type: "json_schema", name: "n", schema, strict: true } } }),
    };
  },

  async ask(client, asking, turn) {
    const request = this.request(asking, turn);
    const answer = asking.stream
      ? await client.responses.stream(request).finalResponse()
      : await client.responses.create(request);
    const called = answer.output.filter((item) => item.type === "function_call");
    const calls = called.map((item) => [item.call_id, item.name, JSON.parse(item.arguments)]);
    return { text: answer.output_text, calls, output_tokens: answer.usage?.output_tokens, turn: answer.output };
  },

  async leave(client, asking) {
    for await (const event of await client.responses.create({ ...this.request(asking), stream: true })) {
      if (event.type === "response.output_text.delta") return event.delta;
    }
  },
};

const anthropic = {
  connect: (url) => new Anthropic({ baseURL: url, apiKey: "none", maxRetries: 0 }),
  limited: (error) => error instanceof Anthropic.RateLimitError,
  models: async (client) => (await collected(client.models.list())).map((model) => model.id),

  request({ model, question, picture, tool, schema, results }, turn) {
    const content = [{ type: "text", text: question }];
    if (picture) content.push({ type: "image", source: { type: "base64", media_type: "image/png", data: picture } });
    const messages = [{ role: "user", content }];
    if (turn) {
      const told = results.map(({ id, output }) => ({ type: "tool_result", tool_use_id: id, content: output }));
      messages.push({ role: "assistant", content: turn }, { role: "user", content: told });
    }
    return {
      model,
      max_tokens: 100,
      messages,
      ...(tool && { tools: [{ name: tool.name, input_schema: tool.parameters }] }),
      ...(schema && { output_config: { format: { type: "json_schema", schema } } }),
    };
  },

  async ask(client, asking, turn) {
    const request = this.request(asking, turn);
    const answer = asking.stream
      ? await client.messages.stream(request).finalMessage()
      : await client.messages.create(request);
    return {
      text: answer.content.map((block) => (block.type === "text" ? block.text : "")).join(""),
      calls: answer.content.filter((block) => block.type === "tool_use").map((block) => [block.id, block.name, block.input]),
      output_tokens: answer.usage.output_tokens,
      turn: answer.content,
    };
  },

  async leave(client, asking) {
    for await (const event of await client.messages.create({ ...this.request(asking), stream: true })) {
      if (event.type === "content_block_delta" && event.delta.type === "text_delta") return event.delta.text;
    }
  },

  async count(client, { model, question }) {
    const counted = await client.messages.countTokens({ model, messages: [{ role: "user", content: question }] });
    return counted.input_tokens;
  },
};

const gemini = {
  connect: (url) => new GoogleGenAI({ apiKey: "none", httpOptions: { baseUrl: url } }),
  limited: (error) => error instanceof ApiError && error.status === 429,
  models: async (client) =>
    (await collected(await client.models.list())).map((model) => model.name.replace(/^models\//, "")),

  request({ model, question, picture, tool, schema, results }, turn) {
    const parts = [{ text: question }];
    if (picture) parts.push({ inlineData: { data: picture, mimeType: "image/png" } });
    const contents = [{ role: "user", parts }];
    if (turn) {
      const told = results.map(({ id, name, output }) => ({ functionResponse: { id, name, response: { output } } }));
      contents.push(turn, { role: "user", parts: told });
    }
    const declared = tool && { name: tool.name, parametersJsonSchema: tool.parameters };
    return {
      model,
      contents,
      config: {
        ...(tool && { tools: [{ functionDeclarations: [declared] }] }),
        ...(schema && { responseMimeType: "application/json", responseJsonSchema: schema }),
      },
    };
  },

  async ask(client, asking, turn) {
    const request = this.request(asking, turn);
    const chunks = asking.stream
      ? await collected(await client.models.generateContentStream(request))
      : [await client.models.generateContent(request)];
    const parts = chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? []);
    return {
      text: parts.map((part) => (part.text && !part.thought ? part.text : "")).join(""),
      calls: parts.flatMap(({ functionCall: call }) => (call ? [[call.id ?? "", call.name, call.args]] : [])),
      output_tokens: chunks.at(-1).usageMetadata?.candidatesTokenCount,
      turn: { role: "model", parts },
    };
  },

  async leave(client, asking) {
    const abort = new AbortController();
    const request = this.request(asking);
    request.config.abortSignal = abort.signal;
    for await (const chunk of await client.models.generateContentStream(request)) {
      if (chunk.text) {
        abort.abort();
        return chunk.text;
      }
    }
  },

  async count(client, { model, question }) {
    return (await client.models.countTokens({ model, contents: question })).totalTokens;
  },
};

const ollama = {
  connect: (url) => new Ollama({ host: url }),
  limited: (error) => error.name === "ResponseError" && error.status_code === 429,
  models: async (client) => (await client.list()).models.map((model) => model.model),

  request({ model, question, picture, tool, schema, results }, turn) {
    const asked = { role: "user", content: question, ...(picture && { images: [picture] }) };
    const told = results.map(({ name, output }) => ({ role: "tool", tool_name: name, content: output }));
    return {
      model,
      messages: turn ? [asked, turn, ...told] : [asked],
      ...(tool && { tools: [{ type: "function", function: { description: "", ...tool } }] }),
      ...(schema && { format: schema }),
    };
  },

  async ask(client, asking, turn) {
    const request = this.request(asking, turn);
    const answers = asking.stream
      ? await collected(await client.chat({ ...request, stream: true }))
      : [await client.chat(request)];
    const text = answers.map((answer) => answer.message.content ?? "").join("");
    const found = answers.flatMap((answer) => answer.message.tool_calls ?? []);
    return {
      text,
      calls: found.map((call) => ["", call.function.name, call.function.arguments]),
      output_tokens: answers.at(-1).eval_count,
      turn: { role: "assistant", content: text, ...(found.length && { tool_calls: found }) },
    };
  },

  async leave(client, asking) {
    const answers = await client.chat({ ...this.request(asking), stream: true });
    for await (const answer of answers) {
      if (answer.message.content) {
        answers.abort();
        return answer.message.content;
      }
    }
  },
};

const bedrock = {
  connect: (url) =>
    new BedrockRuntimeClient({
      endpoint: url,
      region: "us-east-1",
      credentials: { accessKeyId: "none", secretAccessKey: "none" },
      maxAttempts: 1,
    }),
  limited: (error) => error instanceof ThrottlingException,

  request({ model, question, picture, tool, schema, results }, turn) {
    const content = [{ text: question }];
    if (picture) content.push({ image: { format: "png", source: { bytes: Buffer.from(picture, "base64") } } });
    const messages = [{ role: "user", content }];
    if (turn) {
      const told = results.map(({ id, output }) => ({ toolResult: { toolUseId: id, content: [{ text: output }] } }));
      messages.push({ role: "assistant", content: turn }, { role: "user", content: told });
    }
    const jsonSchema = schema && { name: "n", schema: JSON.stringify(schema) };
    return {
      modelId: model,
      messages,
      ...(tool && { toolConfig: { tools: [{ toolSpec: { name: tool.name, inputSchema: { json: tool.parameters } } }] } }),
      ...(schema && { outputConfig: { textFormat: { type: "json_schema", structure: { jsonSchema } } } }),
    };
  },

  async ask(client, asking, turn) {
    const request = this.request(asking, turn);
    const [content, usage] = asking.stream ? await this.streamed(client, request) : await this.whole(client, request);
    return {
      text: content.map((block) => block.text ?? "").join(""),
      calls: content.flatMap(({ toolUse: call }) => (call ? [[call.toolUseId, call.name, call.input]] : [])),
      output_tokens: usage.outputTokens,
      turn: content,
    };
  },

  async whole(client, request) {
    const answer = await client.send(new ConverseCommand(request));
    return [answer.output.message.content, answer.usage];
  },

  async streamed(client, request) {
    const blocks = [];
    let usage;
    for await (const event of (await client.send(new ConverseStreamCommand(request))).stream) {
      if (event.contentBlockStart) {
        blocks[event.contentBlockStart.contentBlockIndex] = { toolUse: { ...event.contentBlockStart.start.toolUse, input: "" } };
      } else if (event.contentBlockDelta) {
        const { contentBlockIndex: index, delta } = event.contentBlockDelta;
        const block = (blocks[index] ??= {});
        if (delta.text) block.text = (block.text ?? "") + delta.text;
        if (delta.toolUse) block.toolUse.input += delta.toolUse.input;
        if (delta.reasoningContent?.text) {
          block.reasoningContent ??= { reasoningText: { text: "" } };
          block.reasoningContent.reasoningText.text += delta.reasoningContent.text;
        }
      } else if (event.metadata) {
        usage = event.metadata.usage;
      }
    }
    for (const { toolUse } of blocks) if (toolUse) toolUse.input = JSON.parse(toolUse.input || "{}");
    return [blocks, usage];
  },

  async leave(client, asking) {
    const abort = new AbortController();
    const answer = await client.send(new ConverseStreamCommand(this.request(asking)), { abortSignal: abort.signal });
    for await (const event of answer.stream) {
      if (event.contentBlockDelta?.delta.text) {
        abort.abort();
        return event.contentBlockDelta.delta.text;
      }
    }
  },
};

const mistral = {
  connect: (url) => new Mistral({ apiKey: "none", serverURL: url, retryConfig: { strategy: "none" } }),
  limited: (error) => error instanceof SDKError && error.statusCode === 429,
  models: async (client) => (await client.models.list()).data.map((model) => model.id),

  request({ model, question, picture, tool, schema, results }, turn) {
    const content = [{ type: "text", text: question }];
    if (picture) content.push({ type: "image_url", imageUrl: `data:image/png;base64,${picture}` });
    const asked = { role: "user", content };
    const told = results.map(({ id, name, output }) => ({ role: "tool", toolCallId: id, name, content: output }));
    return {
      model,
      messages: turn ? [asked, turn, ...told] : [asked],
      ...(tool && { tools: [{ type: "function", function: { name: tool.name, parameters: tool.parameters } }] }),
      ...(schema && {
        responseFormat: { type: "json_schema", jsonSchema: { name: "n", schemaDefinition: schema, strict: true } },
      }),
    };
  },

  async ask(client, asking, turn) {
    const request = this.request(asking, turn);
    const [message, usage] = asking.stream ? await this.streamed(client, request) : await this.whole(client, request);
    const calls = (message.toolCalls ?? []).map((call) => [call.id, call.function.name, JSON.parse(call.function.arguments)]);
    return { text: message.content ?? "", calls, output_tokens: usage?.completionTokens, turn: message };
  },

  async whole(client, request) {
    const answer = await client.chat.complete(request);
    return [answer.choices[0].message, answer.usage];
  },

  async streamed(client, request) {
    const calls = [];
    let content = "";
    let usage;
    for await (const { data } of await client.chat.stream(request)) {
      usage = data.usage ?? usage;
      const delta = data.choices[0]?.delta;
      if (typeof delta?.content === "string") content += delta.content;
      for (const call of delta?.toolCalls ?? []) {
        const known = calls[call.index ?? 0];
        if (known) known.function.arguments += call.function.arguments;
        else calls[call.index ?? 0] = { id: call.id, function: { ...call.function } };
      }
    }
    return [{ role: "assistant", content, ...(calls.length && { toolCalls: calls }) }, usage];
  },

  async leave(client, asking) {
    for await (const { data } of await client.chat.stream(this.request(asking))) {
      if (data.choices[0]?.delta.content) return data.choices[0].delta.content;
    }
  },
};

const cohere = {
  connect: (url) => new CohereClientV2({ token: "none", baseUrl: url, maxRetries: 0 }),
  limited: (error) => error instanceof CohereError && error.statusCode === 429,
  models: async (client) => (await client.models.list()).models.map((model) => model.name),

  request({ model, question, picture, tool, schema, results }, turn) {
    const image = { type: "image_url", imageUrl: { url: `data:image/png;base64,${picture}` } };
    const asked = { role: "user", content: picture ? [{ type: "text", text: question }, image] : question };
    const told = results.map(({ id, output }) => ({ role: "tool", toolCallId: id, content: output }));
    return {
      model,
      messages: turn ? [asked, turn, ...told] : [asked],
      ...(tool && { tools: [{ type: "function", function: { name: tool.name, parameters: tool.parameters } }] }),
      ...(schema && { responseFormat: { type: "json_object", jsonSchema: schema } }),
    };
  },

  async ask(client, asking, turn) {
    const request = this.request(asking, turn);
    const [message, usage] = asking.stream ? await this.streamed(client, request) : await this.whole(client, request);
    const calls = (message.toolCalls ?? []).map((call) => [call.id, call.function.name, JSON.parse(call.function.arguments)]);
    const text = (message.content ?? []).map((part) => part.text ?? "").join("");
    return { text: (message.toolPlan ?? "") + text, calls, output_tokens: usage?.billedUnits?.outputTokens, turn: message };
  },

  async whole(client, request) {
    const answer = await client.chat(request);
    return [answer.message, answer.usage];
  },

  async streamed(client, request) {
    const message = { role: "assistant" };
    let text = "";
    let usage;
    for await (const event of await client.chatStream(request)) {
      const told = event.delta?.message;
      if (event.type === "tool-plan-delta") message.toolPlan = (message.toolPlan ?? "") + told.toolPlan;
      if (event.type === "content-delta") text += told.content.text ?? "";
      if (event.type === "tool-call-start") (message.toolCalls ??= []).push(told.toolCalls);
      if (event.type === "tool-call-delta") {
        message.toolCalls[event.index].function.arguments += told.toolCalls.function.arguments;
      }
      if (event.type === "message-end") usage = event.delta.usage;
    }
    if (text) message.content = [{ type: "text", text }];
    return [message, usage];
  },

  async leave(client, asking) {
    for await (const event of await client.chatStream(this.request(asking))) {
      if (event.type === "content-delta" && event.delta.message.content.text) return event.delta.message.content.text;
    }
  },
};

const SDKS = {
  "openai-chat": openaiChat,
  "openai-responses": openaiResponses,
  anthropic,
  "google-genai": gemini,
  ollama,
  bedrock,
  mistralai: mistral,
  cohere,
};

const connected = new Map();
const turns = [];

async function carryOut({ do: what, sdk: name, url, ...asking }) {
  const sdk = SDKS[name];
  const key = `${name} ${url}`;
  if (!connected.has(key)) connected.set(key, sdk.connect(url));
  const client = connected.get(key);
  try {
    if (what === "models") return { models: await sdk.models(client) };
    if (what === "count") return { tokens: await sdk.count(client, asking) };
    if (what === "leave") return { text: await sdk.leave(client, asking) };
    const { turn, ...understood } = await sdk.ask(client, asking, turns[asking.turn]);
    return { ...understood, turn: turns.push(turn) - 1 };
  } catch (error) {
    const status = error.status ?? error.statusCode ?? error.status_code ?? error.$metadata?.httpStatusCode;
    return { error: error.constructor.name, limited: sdk.limited(error), status, message: String(error.stack ?? error) };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await carryOut(JSON.parse(line)))}\n`);
}
process.exit(0);
