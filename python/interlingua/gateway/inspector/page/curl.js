// Commands that do with the gateway what the page shows.

import { hasKey } from "./api.js";

const SERVICE = "/interlingua.v1.InterlinguaService";

/** The command for one side: a request is sent in its own wire, anything else is carried there by Adapt. */
export function curl(compared, side, text, binary) {
  if (compared.kind === "request" && side.wire !== "canonical") return sent(side.path, withModel(compared, side));
  if (compared.kind === "request") return sent(`${SERVICE}/Generate`, JSON.stringify({ requestJson: compact(side.text), jsonOutput: true }));
  const call = { ...input(compared, text, binary), jsonOutput: true };
  if (compared.wire !== "canonical") call.source = { adapter: compared.wire };
  if (side.wire !== "canonical") call.target = { adapter: side.wire };
  return sent(`${SERVICE}/Adapt`, JSON.stringify(call));
}

function input(compared, text, binary) {
  const canonical = compared.wire === "canonical";
  switch (compared.kind) {
    case "response":
      return canonical ? { responseJson: text } : { wireJson: text, kind: "KIND_RESPONSE" };
    case "error":
      return canonical ? { errorJson: text } : { errorAnswer: answer(text) };
    default: {
      const source = compared.sides.find((side) => side.wire === "source");
      if (canonical) return { events: { eventsJson: source.pieces.map((piece) => piece.text) } };
      return { chunks: { chunks: [binary ?? base64(text)] } };
    }
  }
}

/** An error as it was pasted: with its status, or the body alone. */
function answer(text) {
  try {
    const { status, headers, body } = JSON.parse(text);
    if (Number.isInteger(status) && body !== undefined) {
      return { status, headers: headers ?? {}, body: typeof body === "string" ? body : JSON.stringify(body) };
    }
  } catch {
    // a page is an error too
  }
  return { body: text };
}

/** A request names the model to ask: that of the request as it was written, by its id. */
function withModel(compared, side) {
  const body = compact(side.text);
  const named = /^\{"model":"[^"]*"/.test(body) || /\/models?\//.test(side.path);
  return named ? body : body.replace("{", '{"model":"openai:gpt-5.4",');
}

/** JSON on one line. Numbers stay as they are written: only space between the tokens goes. */
const compact = (text) => text.replace(/("(?:[^"\\]|\\.)*")|\s+/g, (_, string) => string ?? "");

const base64 = (text) => btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(""));
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

function sent(path, body) {
  const key = hasKey() ? ["-H \"authorization: Bearer $INTERLINGUA_KEY\""] : [];
  return [`curl ${quoted(location.origin + path)}`, "-H 'content-type: application/json'", ...key, `--data ${quoted(body)}`].join(" \\\n  ");
}
