import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";

import { Code, type Interceptor } from "@connectrpc/connect";

import {
  addDecimals,
  connect,
  type ConnectOptions,
  create,
  ErrorCategory,
  type GenerateInSessionRequest,
  GenerateInSessionResponseSchema,
  type GenerateStreamRequest,
  GenerateStreamResponseSchema,
  InterlinguaError,
  type InterlinguaClient,
  LosslessNumber,
  LossSeverity,
  readJson,
  type Request,
  RequestSchema,
  type Response,
  rest,
  Role,
  setRest,
  StreamEventSchema,
  text,
  writeJson,
} from "../src/index.js";

// The servers are started by clients/run.py: one that replays, and one with TLS and a token whose provider always asks
// to wait.
const server = process.env["INTERLINGUA_SERVER"];
const guarded = process.env["INTERLINGUA_GUARDED"];
const files = process.env["INTERLINGUA_GUARDED_FILES"] ?? "";
const token = process.env["INTERLINGUA_TOKEN"];
const skip = server === undefined || guarded === undefined ? "clients/run.py starts the servers" : false;
const clients: InterlinguaClient[] = [];
after(() => clients.forEach((client) => client.close()));

function dial(address: string | undefined, options: ConnectOptions = {}): InterlinguaClient {
  const client = connect(address!, options);
  clients.push(client);
  return client;
}

function dialGuarded(token: string | undefined, certificate = true): InterlinguaClient {
  const mine = certificate ? { cert: file("client.pem"), key: file("client.key") } : {};
  return dial(guarded, { tls: { ca: file("authority.pem"), ...mine }, token });
}

const file = (name: string) => readFileSync(join(files, name));

const asking = (model: string) => create(RequestSchema, { model, messages: [text(Role.USER, "What is a ULID?")] });

const conversation = (model: string) => ({ conversation: { case: "request" as const, value: asking(model) } });

async function failing(call: Promise<unknown>): Promise<InterlinguaError> {
  try {
    await call;
  } catch (problem) {
    assert(problem instanceof InterlinguaError);
    return problem;
  }
  assert.fail("the call did not fail");
}

async function read(client: InterlinguaClient, request: Request): Promise<Request> {
  const { output } = await client.adapt({ input: { case: "request", value: request } });
  assert(output.case === "request");
  return output.value;
}

test("TLS, a certificate and a token", { skip }, async () => {
  const { models } = await dialGuarded(token).listModels({});
  assert.notEqual(models.length, 0);
});

test("a status without details has a category", { skip }, async () => {
  const problem = await failing(dialGuarded("another").listModels({}));
  assert.equal(problem.category, ErrorCategory.AUTHENTICATION);
  assert.equal(problem.canonical, undefined);
});

test("a connection that is refused", { skip }, async () => {
  const problem = await failing(dialGuarded(token, false).listModels({}));
  assert.equal(problem.category, ErrorCategory.NETWORK);
});

test("TLS to a server without it", { skip }, async () => {
  const problem = await failing(dial(server, { tls: true }).listModels({}));
  assert.deepEqual([problem.category, problem.retryable], [ErrorCategory.NETWORK, false]);
});

test("a certificate that is not trusted", { skip }, async () => {
  const problem = await failing(dial(guarded, { tls: true }).listModels({}));
  assert.deepEqual([problem.category, problem.retryable], [ErrorCategory.NETWORK, false]);
});

test("nobody listens", async () => {
  const client = dial("127.0.0.1:1");
  const problem = await failing(client.listModels({}));
  assert.deepEqual([problem.category, problem.retryable], [ErrorCategory.NETWORK, true]);
  const stream = client.generateStream({})[Symbol.asyncIterator]();
  assert.equal((await failing(stream.next())).category, ErrorCategory.NETWORK);
});

test("a provider that asks to wait", { skip }, async () => {
  const problem = await failing(dialGuarded(token).generate(conversation("anthropic:claude-sonnet-4-6")));
  assert.equal(problem.category, ErrorCategory.RATE_LIMIT);
  assert.equal(problem.code, Code.ResourceExhausted);
  assert.deepEqual([problem.retryable, problem.retryAfter], [true, 7]);
  assert.equal(problem.canonical?.providerMessage, "not so fast with the pumps");
  assert.doesNotMatch(`${problem} ${problem.stack}`, /pumps/);
});

test("an invalid request says where", { skip }, async () => {
  const value = create(RequestSchema, { messages: [{ role: Role.UNSPECIFIED }] });
  const problem = await failing(dial(server).adapt({ input: { case: "request", value } }));
  assert.deepEqual([problem.category, problem.path], [ErrorCategory.INVALID_REQUEST, "/messages/0/role"]);
  assert.equal(problem.violations[0]?.path, "/messages/0/role");
  assert.match(problem.message, / \(at \/messages\/0\/role\)$/);
});

test("a refused loss brings its report", { skip }, async () => {
  const value = { ...asking("openai:gpt-4.1"), topK: 5 };
  const lossPolicy = { strict: LossSeverity.WEAKENED };
  const target = { adapter: "openai_chat" };
  const problem = await failing(dial(server).adapt({ input: { case: "request", value }, target, lossPolicy }));
  assert.equal(problem.category, ErrorCategory.LOSS_REFUSED);
  assert.deepEqual([problem.lossEntries, problem.loss.map(({ path }) => path)], [1, ["/top_k"]]);
});

test("a deadline", { skip }, async () => {
  const problem = await failing(dial(server).listModels({}, { timeoutMs: 1 }));
  assert.deepEqual([problem.category, problem.code], [ErrorCategory.TIMEOUT, Code.DeadlineExceeded]);
  assert.ok(problem.retryable);
});

test("a call that is cancelled", { skip }, async () => {
  const problem = await failing(dial(server).listModels({}, { signal: AbortSignal.abort() }));
  assert.equal(problem.category, ErrorCategory.CANCELLED);
});

test("a stream", { skip }, async () => {
  let said = "";
  let last: Response | undefined;
  for await (const { piece } of dial(server).generateStream(conversation("replay:claude-sonnet-4-6"))) {
    assert(piece.case === "event");
    const { case: kind, value } = piece.value.event;
    said += kind === "textDelta" ? value.text : "";
    last = kind === "messageComplete" ? value.response : last;
  }
  const block = last?.message?.content[0]?.block;
  assert(block?.case === "text" && said !== "");
  assert.equal(block.value.text, said);
});

test("events that travel together are given one by one", async () => {
  const events = ["A", "B"].map((text) => create(StreamEventSchema, { event: { case: "textDelta", value: { text } } }));
  const answer = async function* (asked: GenerateStreamRequest) {
    assert(asked.batched);
    yield create(GenerateStreamResponseSchema, { piece: { case: "decision", value: {} } });
    const value = asked.jsonOutput ? { eventsJson: ["1", "2"] } : { events };
    yield create(GenerateStreamResponseSchema, { piece: { case: "events", value } });
  };
  const playing: Interceptor = () => async (request) => {
    assert(request.stream);
    const { value } = await (request.message as AsyncIterable<GenerateStreamRequest>)[Symbol.asyncIterator]().next();
    const { method, service } = request;
    return { stream: true, method, service, header: new Headers(), trailer: new Headers(), message: answer(value) } as any;
  };
  const client = dial("127.0.0.1:1", { transport: { interceptors: [playing] } });
  const given = async (request: { jsonOutput?: boolean; batched?: boolean }) => {
    const pieces = [];
    for await (const { piece } of client.generateStream(request)) {
      pieces.push([piece.case, piece.case === "event" ? piece.value.event.value : piece.value]);
    }
    assert.equal(pieces.shift()?.[0], "decision");
    return pieces;
  };
  assert.deepEqual(
    await given({}),
    events.map(({ event }) => ["event", event.value]),
  );
  assert.deepEqual(await given({ jsonOutput: true }), [
    ["eventJson", "1"],
    ["eventJson", "2"],
  ]);
  assert.deepEqual((await given({ batched: true })).map(([kind]) => kind), ["events"]);
});

test("events of a session that travel together are given one by one", async () => {
  const answer = async function* (asked: GenerateInSessionRequest) {
    assert(asked.batched);
    yield create(GenerateInSessionResponseSchema, { piece: { case: "events", value: { eventsJson: ["1", "2"] } } });
  };
  const playing: Interceptor = () => async (request) => {
    assert(request.stream);
    const { value } = await (request.message as AsyncIterable<GenerateInSessionRequest>)[Symbol.asyncIterator]().next();
    const { method, service } = request;
    return { stream: true, method, service, header: new Headers(), trailer: new Headers(), message: answer(value) } as any;
  };
  const client = dial("127.0.0.1:1", { transport: { interceptors: [playing] } });
  const given = async (batched: boolean) => {
    const pieces = [];
    for await (const { piece } of client.generateInSession({ sessionId: "s", jsonOutput: true, batched })) {
      pieces.push(piece.case === "eventJson" ? piece.value : piece.case);
    }
    return pieces;
  };
  assert.deepEqual(await given(false), ["1", "2"]);
  assert.deepEqual(await given(true), ["events"]);
});

test("leaving the loop cancels the call", { skip }, async () => {
  const controller = new AbortController();
  let aborted = false;
  const client = connect(server!, {
    transport: {
      interceptors: [
        (next) => (request) => {
          request.signal.addEventListener("abort", () => (aborted = true));
          return next(request);
        },
      ],
    },
  });
  clients.push(client);
  for await (const _ of client.generateStream(conversation("replay:claude-sonnet-4-6"), { signal: controller.signal })) {
    break;
  }
  assert(aborted);
});

test("a stream that fails", { skip }, async () => {
  const stream = dialGuarded(token).generateStream(conversation("anthropic:claude-sonnet-4-6"));
  const problem = await failing(stream[Symbol.asyncIterator]().next());
  assert.equal(problem.category, ErrorCategory.RATE_LIMIT);
});

test("integers of 64 bits and beyond", { skip }, async () => {
  const request = asking("openai:gpt-4.1");
  request.seed = 2n ** 63n - 1n;
  setRest(request.messages[0]!, { beyond: 2n ** 64n + 1n });
  const back = await read(dial(server), request);
  assert.equal(back.seed, 9223372036854775807n);
  assert.deepEqual(rest(back.messages[0]!), { beyond: 18446744073709551617n });
});

test("decimals", { skip }, async () => {
  const { cost } = await dial(server).estimate({
    subject: { case: "usage", value: { inputTokens: 1, outputTokens: 3 } },
    priceJson: '{"input_per_mtok_usd": "0.1", "output_per_mtok_usd": "0.2"}',
  });
  assert.equal(addDecimals(cost!.likelyUsd, "0"), "0.0000007");
});

test("sums of decimals are exact", () => {
  assert.equal(addDecimals("0.1", "0.2"), "0.3");
  assert.equal(addDecimals("123456789012345678901234567890.1", "-0.01"), "123456789012345678901234567890.09");
  assert.equal(addDecimals("-0.5", "0.25"), "-0.25");
  assert.equal(addDecimals(), "0");
  for (const wrong of ["1e-7", "", "0x1", "NaN", "1."]) {
    assert.throws(() => addDecimals(wrong), RangeError);
  }
});

test("free JSON is exact", () => {
  const written = '{"id":18446744073709551617,"price":0.1234567890123456789,"tenth":0.1,"minus":-0,"__proto__":{"a":1}}';
  const value = readJson(written) as any;
  assert.equal(value.id, 18446744073709551617n);
  assert.equal(value.tenth, 0.1);
  assert(value.price instanceof LosslessNumber);
  assert.equal(writeJson(value), written);
  assert.equal(readJson(""), undefined);
});

test("an edited field stands over the rest", { skip }, async () => {
  const client = dial(server);
  const edited = await read(
    client,
    create(RequestSchema, { ...asking("openai:gpt-4.1"), restJson: '{"seed": 99999999999999999999999, "holograms": true}' }),
  );
  edited.seed = 5n;
  assert.equal((await failing(read(client, edited))).path, "/rest_json/seed");
  assert.deepEqual(rest(edited), { holograms: true });
  assert.throws(() => setRest(edited, { seed: 6 }), TypeError);
  setRest(edited, rest(edited));
  const back = await read(client, edited);
  assert.deepEqual([back.seed, back.restJson], [5n, '{"holograms":true}']);
});
