/**
 * The tour: a streamed answer with a tool loop, Route, Adapt, a typed error, and a model that is swapped in
 * mid-conversation. `interlingua serve --replay` answers it without a key and without a network.
 *
 *     node dist/examples/tour.js localhost:50051
 */
import {
  addDecimals,
  calls,
  connect,
  type ContentBlock,
  ContentBlockSchema,
  create,
  ErrorCategorySchema,
  FinishReasonSchema,
  InterlinguaError,
  LossSeverity,
  LossSeveritySchema,
  MediaSourceKind,
  readJson,
  type Request,
  RequestSchema,
  type Response,
  Role,
  SideEffects,
  text,
  textBlock,
  toolResult,
  type ToolUseBlock,
  word,
} from "../src/index.js";

const FIRST = "replay:claude-opus-4-8";
const SECOND = "replay:gpt-5.4";
const PHOTO = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=";

const client = connect(process.argv[2] ?? "localhost:50051", { token: process.env["INTERLINGUA_TOKEN"] });
const spent: string[] = [];

/** Carries a call out. */
function run(call: ToolUseBlock): ContentBlock[] {
  const input = readJson(call.inputJson) as { pump: string };
  if (call.name === "file_log_entry") {
    return [textBlock("entry 2207 filed")];
  }
  if (input.pump === "B") {
    const source = { kind: MediaSourceKind.BASE64, data: PHOTO };
    return [create(ContentBlockSchema, { block: { case: "image", value: { source, mediaType: "image/png" } } })];
  }
  return [textBlock("4.1 bar")];
}

/** Streams one answer. */
async function ask(conversation: Request, model: string): Promise<Response> {
  process.stdout.write(`${model}: `);
  let response: Response | undefined;
  for await (const { piece } of client.generateStream({
    conversation: { case: "request", value: conversation },
    target: model,
  })) {
    const event = piece.case === "event" ? piece.value.event : undefined;
    if (event?.case === "textDelta") {
      process.stdout.write(event.value.text);
    } else if (event?.case === "messageComplete") {
      response = event.value.response;
    }
  }
  if (response?.usage?.costUsd === undefined) {
    throw new Error("no response, or none that is priced");
  }
  console.log(`\n  ${word(FinishReasonSchema, response.finishReason)}, ${response.usage.costUsd} USD`);
  return response;
}

/** Asks a model, carries its calls out, and asks again until it calls nothing more. */
async function turn(conversation: Request, model: string, words: string): Promise<void> {
  conversation.messages.push(text(Role.USER, words));
  for (let round = 0; round < 5; round++) {
    const { message, usage } = await ask(conversation, model);
    spent.push(usage!.costUsd!);
    conversation.messages.push(message!);
    if (calls(message).length === 0) {
      return;
    }
    for (const call of calls(message)) {
      console.log(`  tool ${call.name} ${call.inputJson}`);
      conversation.messages.push(toolResult(call, ...run(call)));
    }
  }
}

const conversation = create(RequestSchema, {
  messages: [text(Role.SYSTEM, "You watch the pumps of a water works.")],
  tools: [
    {
      name: "read_gauge",
      description: "Read the pressure of a pump. Pump B has a camera.",
      inputSchemaJson: '{"type": "object", "properties": {"pump": {"type": "string"}}, "required": ["pump"]}',
      sideEffects: SideEffects.READ,
    },
    {
      name: "file_log_entry",
      description: "File an entry in the log of the shift.",
      inputSchemaJson: '{"type": "object", "properties": {"entry": {"type": "string"}}}',
      sideEffects: SideEffects.WRITE,
    },
  ],
  maxOutputTokens: 1024,
});
await turn(conversation, FIRST, "Are pumps A and B all right?");

console.log(`route ${FIRST},${SECOND}`);
const { candidates } = await client.route({
  conversation: { case: "request", value: conversation },
  target: `${FIRST},${SECOND}`,
  policyJson: '{"version": 1, "chains": true}',
  withCandidates: true,
});
for (const { model, loss } of candidates) {
  console.log(`  ${model} would lose ${loss.length}`);
}

console.log(`swap to ${SECOND}`);
const asked = { input: { case: "request", value: conversation }, target: { adapter: "openai_chat" } } as const;
for (const { severity, path, code } of (await client.adapt(asked)).loss) {
  console.log(`  ${word(LossSeveritySchema, severity)} ${path} ${code}`);
}

try {
  await client.adapt({ ...asked, lossPolicy: { strict: LossSeverity.WEAKENED } });
  throw new Error("the loss was not refused");
} catch (problem) {
  if (!(problem instanceof InterlinguaError)) {
    throw problem;
  }
  console.log(`refused: ${word(ErrorCategorySchema, problem.category)}, ${problem.loss.length} entries`);
}

await turn(conversation, SECOND, "Put that into the log of the shift.");
console.log(`spent ${addDecimals(...spent)} USD`);
client.close();
