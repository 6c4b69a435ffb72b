/**
 * The plug leads the conformance suite through the messages of TypeScript: every canonical value becomes a message, goes
 * through a server, and what comes back becomes JSON again.
 *
 *     python3 conformance/runner run -- node dist/plug/main.js HOST:PORT spec/schema/interlingua.schema.json
 *
 * encode and decode are the operations of the cross test (clients/run.py): a value as bytes, and back.
 */
import { createInterface } from "node:readline";

import { createRegistry, type DescMessage, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";

import {
  type AdaptRequestSchema,
  connect,
  ErrorSchema,
  type Events,
  EventsSchema,
  file_interlingua_v1_types,
  InterlinguaError,
  type InterlinguaClient,
  Kind,
  LossEntrySchema,
  RequestSchema,
  type Response,
  ResponseSchema,
  StreamEventSchema,
  UsageSchema,
  type Error as CanonicalError,
  type Request,
  type StreamEvent,
  type Usage,
} from "../src/index.js";
import { create } from "@bufbuild/protobuf";
import { fromMessage, Invalid, load, type Members, read, toMessage, type Value, write } from "./canonical.js";

const registry = createRegistry(file_interlingua_v1_types);
const timeout = { timeoutMs: 20_000 };

type Operation = (client: InterlinguaClient, adapter: string, input: Members) => Promise<any>;
type AdaptInit = MessageInitShape<typeof AdaptRequestSchema>;

const operations: Record<string, Operation> = {
  to_wire: (client, adapter, input) => {
    const request = toMessage(RequestSchema, input["request"]) as Request;
    return adapt(client, "wire", { input: { case: "request", value: request }, target: side(adapter, input) });
  },
  to_wire_response: (client, adapter, input) => {
    const response = toMessage(ResponseSchema, input["response"]) as Response;
    const target = side(adapter, input);
    return adapt(client, "body", { input: { case: "response", value: response }, target, answered: answered(input) });
  },
  from_wire_request: (client, adapter, input) =>
    adapt(client, "request", { input: wire(input["wire"]), kind: Kind.REQUEST, source: side(adapter, input) }),
  from_wire_response: (client, adapter, input) => {
    const body = { input: wire(input["body"]), kind: Kind.RESPONSE, source: side(adapter, input) };
    return adapt(client, "response", { ...body, answered: answered(input) });
  },
  stream: (client, adapter, input) => {
    const value = { chunks: list(input, "chunks").map((chunk) => Buffer.from(textOf(chunk), "base64")) };
    const source = side(adapter, input);
    return adapt(client, "events", { input: { case: "chunks", value }, source, answered: answered(input) });
  },
  stream_encode: (client, adapter, input) => {
    const events = list(input, "events").map((event) => toMessage(StreamEventSchema, event) as StreamEvent);
    const value = create(EventsSchema, { events });
    const target = side(adapter, input);
    return adapt(client, "chunks", { input: { case: "events", value }, target, answered: answered(input) });
  },
  error: (client, adapter, input) => {
    const body = typeof input["body"] === "string" ? input["body"] : write(input["body"] ?? null);
    const headers = input["headers"] as Record<string, string>;
    const value = { status: Number(input["status"]), headers, body };
    const includeRaw = input["raw"] === true;
    return adapt(client, "error", { input: { case: "errorAnswer", value }, source: side(adapter, input), includeRaw });
  },
  to_wire_error: (client, adapter, input) => {
    const value = toMessage(ErrorSchema, input["error"]) as CanonicalError;
    return adapt(client, "answer", { input: { case: "error", value }, target: side(adapter, input) });
  },
  cost: async (client, _, input) => {
    const value = toMessage(UsageSchema, input["usage"]) as Usage;
    // without any price the server would look the model up in its own table
    const answer = await client.estimate({ subject: { case: "usage", value }, priceJson: write(input["price"] ?? {}) }, timeout);
    return { cost_usd: answer.cost?.likelyUsd ?? null };
  },
  encode: async (_, __, input) => {
    const schema = named(input);
    return { bytes: Buffer.from(toBinary(schema, toMessage(schema, input["value"]))).toString("base64") };
  },
  decode: async (_, __, input) => {
    const schema = named(input);
    const message = fromBinary(schema, Buffer.from(textOf(input["bytes"]), "base64"));
    return { value: fromMessage(schema, message), bytes: Buffer.from(toBinary(schema, message)).toString("base64") };
  },
  hello: async (client) => {
    const { adapters } = await client.listModels({}, timeout);
    const claimed = Object.keys(operations).filter((name) => !["cost", "encode", "decode", "hello", "bye"].includes(name));
    return {
      protocol: 1,
      implementation: { name: "interlingua-typescript", version: "0.1.0", language: "typescript" },
      adapters: Object.fromEntries(adapters.map((name) => [name, claimed])),
      operations: ["cost"],
    };
  },
  bye: async () => ({}),
};

/** The request that an answer answers, where the suite gives one. */
function answered(input: Members): AdaptInit["answered"] {
  if (input["request"] === undefined) {
    return { case: undefined };
  }
  return { case: "answeredRequest", value: toMessage(RequestSchema, input["request"]) as Request };
}

async function adapt(client: InterlinguaClient, member: string, request: AdaptInit): Promise<any> {
  const answer = await client.adapt(request, timeout);
  const output: any = { loss: answer.loss.map((entry) => fromMessage(LossEntrySchema, entry)) };
  const arrived = answer.output;
  switch (arrived.case) {
    case "wireJson":
      return { ...output, [member]: read(arrived.value) };
    case "request":
      return { ...output, [member]: fromMessage(RequestSchema, arrived.value) };
    case "response":
      return { ...output, [member]: fromMessage(ResponseSchema, arrived.value) };
    case "chunks":
      return { ...output, [member]: arrived.value.chunks.map((chunk) => Buffer.from(chunk).toString("base64")) };
    case "events":
      return events(arrived.value, request.input?.case === "chunks" ? (request.input.value.chunks ?? []).length : 0);
    case "error":
      return fromMessage(ErrorSchema, arrived.value);
    case "errorAnswer": {
      const { status, headers, body } = arrived.value;
      return { ...output, wire: { status, headers, body: jsonOrText(body) } };
    }
    default:
      throw new TypeError("Adapt answers without an output");
  }
}

/** Events by the chunk that completed them, and behind the last chunk those that the end of input brought. */
function events({ events, completedBy }: Events, chunks: number): any {
  const parts: Members[][] = Array.from({ length: chunks + 1 }, () => []);
  let response: Response | undefined;
  events.forEach((event, position) => {
    parts[Math.min(completedBy[position]!, chunks)]!.push(fromMessage(StreamEventSchema, event));
    const { case: kind, value } = event.event;
    response = kind === "messageComplete" || kind === "error" ? value.response : undefined;
  });
  return { events: parts, response: response ? fromMessage(ResponseSchema, response) : null };
}

function side(adapter: string, input: Members) {
  const [provider, model, origin] = ["provider", "model", "origin"].map((name) => textOf(input[name] ?? ""));
  return { adapter, provider: provider!, model: model!, origin: origin!, stateInIds: input["state_in_ids"] === true };
}

function wire(value: Value | undefined) {
  return { case: "wireJson" as const, value: value === undefined ? "" : write(value) };
}

function jsonOrText(text: string): Value {
  try {
    return read(text);
  } catch {
    return text;
  }
}

function list(input: Members, name: string): Value[] {
  const value = input[name];
  if (!Array.isArray(value)) {
    throw new Invalid("not a list", `/${name}`);
  }
  return value;
}

function textOf(value: Value | undefined): string {
  if (typeof value !== "string") {
    throw new Invalid("not a text");
  }
  return value;
}

function named(input: Members): DescMessage {
  const found = registry.getMessage(`interlingua.v1.${textOf(input["type"])}`);
  if (found === undefined) {
    throw new Invalid("there is no message of this name", "/type");
  }
  return found;
}

async function handle(client: InterlinguaClient, line: string): Promise<any> {
  const message = read(line) as Members;
  const id = message["id"];
  const operation = operations[String(message["op"])];
  if (operation === undefined) {
    return { id, unsupported: true };
  }
  try {
    return { id, output: await operation(client, String(message["adapter"] ?? ""), (message["input"] ?? {}) as Members) };
  } catch (problem) {
    if (problem instanceof Invalid) {
      return { id, error: { category: "invalid_request", message: problem.message, path: problem.path } };
    }
    if (problem instanceof InterlinguaError && problem.canonical) {
      return { id, error: fromMessage(ErrorSchema, problem.canonical) };
    }
    return { id, error: { category: "internal", message: String(problem) } };
  }
}

const [, , address, schema] = process.argv;
if (address === undefined || schema === undefined) {
  console.error("usage: main.js HOST:PORT SCHEMA");
  process.exit(2);
}
load(schema);
const client = connect(address);
for await (const line of createInterface({ input: process.stdin })) {
  if (line.trim() !== "") {
    process.stdout.write(`${write(await handle(client, line))}\n`);
  }
}
client.close();
