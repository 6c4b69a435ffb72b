// A plug to start from, for Node.js: fill in the operations, run it, and grow.
//
//   python3 conformance/runner doctor -- node conformance/plugs/javascript.mjs
//
// JSON.parse rounds integers beyond 2^53: an implementation that must keep them (the suite asks) needs another parser.

import { createInterface } from "node:readline";

const ADAPTER = "openai_chat"; // one of the folders of conformance/cases

class Refused extends Error {
  constructor(category, message, path = "") {
    super(message);
    this.error = { category, message, path };
  }
}

const operations = {
  hello: () => ({
    protocol: 1,
    implementation: { name: "skeleton", version: "0", language: "javascript" },
    adapters: { [ADAPTER]: ["to_wire"] }, // claim only what you do
    operations: [],
    capabilities: [], // "tools", "images", … as you add them: until then no check asks for more than text
  }),

  // Texts and a limit; any other member of the request is reported in `loss`, any other content refused.
  to_wire: ({ request }) => {
    const messages = request.messages.map((turn, number) => {
      if (turn.content.length !== 1 || turn.content[0].type !== "text") {
        throw new Refused("unsupported", "only messages with one text", `/messages/${number}/content`);
      }
      return { role: turn.role, content: turn.content[0].text };
    });
    const body = { model: (request.model ?? "").replace(/^[^:]*:/, ""), messages };
    if (request.max_output_tokens !== undefined) body.max_completion_tokens = request.max_output_tokens;
    const loss = Object.keys(request)
      .filter((name) => !["model", "messages", "max_output_tokens"].includes(name))
      .map((name) => ({ op: "drop", path: `/${name}`, code: "unsupported_field", severity: "lost", message: "not yet" }));
    return { wire: { method: "POST", path: "/chat/completions", headers: {}, body }, loss };
  },

  bye: () => ({}),
};

function handle({ id, op, adapter, input }) {
  const operation = operations[op];
  if (!operation || (adapter !== undefined && adapter !== ADAPTER)) return { id, unsupported: true };
  try {
    return { id, output: operation(input ?? {}) };
  } catch (problem) {
    return { id, error: problem.error ?? { category: "invalid_request", message: `not understood: ${problem.message}` } };
  }
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  if (line.trim() === "") continue;
  const message = JSON.parse(line);
  process.stdout.write(JSON.stringify(handle(message)) + "\n");
  if (message.op === "bye") break;
}
