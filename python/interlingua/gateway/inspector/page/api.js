// The gateway: JSON, and streams of server-sent events that carry a key.

const STORED = "interlingua-key";
let key = sessionStorage.getItem(STORED);

export const hasKey = () => Boolean(key);

/** Keeps a key for as long as the tab is open; null forgets it. */
export function useKey(value) {
  key = value;
  if (value === null) sessionStorage.removeItem(STORED);
  else sessionStorage.setItem(STORED, value);
}

export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

const headers = (more = {}) => (key ? { ...more, authorization: `Bearer ${key}` } : more);

async function checked(answer) {
  if (answer.ok) return answer;
  let message = `the gateway answers ${answer.status}`;
  try {
    message = (await answer.json()).error.message;
  } catch {
    // a body that is none of the gateway's says no more than its status
  }
  throw new Refused(answer.status, message);
}

export async function get(path) {
  return (await checked(await fetch(path, { headers: headers() }))).json();
}

export async function post(path, body, signal) {
  const sent = { method: "POST", headers: headers({ "content-type": "application/json" }), body: JSON.stringify(body), signal };
  return (await checked(await fetch(path, sent))).json();
}

/** The events of a stream, as [name, text of the data], signs of life among them. EventSource could not send a key. */
export async function* events(path, signal) {
  const answer = await checked(await fetch(path, { headers: headers(), signal }));
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop();
    for (const part of parts) {
      const lines = part.split("\n");
      const named = lines.find((line) => line.startsWith("event: "));
      const data = lines.find((line) => line.startsWith("data: "));
      yield named && data ? [named.slice(7), data.slice(6)] : ["alive", "{}"];
    }
  }
}
