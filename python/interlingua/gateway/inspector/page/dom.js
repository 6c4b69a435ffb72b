// Elements without markup in texts: what is shown is never read as HTML.

/** An element with attributes, listeners (`onclick`) and children; a child may be a text, and null is left out. */
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export const $ = (id) => document.getElementById(id);

/** Says something to a person, also to one who does not look; only to such a one when it can be seen elsewhere. */
export function say(text, seen = true) {
  $("said").textContent = text;
  $("said").classList.toggle("unseen", !seen);
  clearTimeout(say.timer);
  say.timer = setTimeout(() => ($("said").textContent = ""), 2500);
}

/** A button that copies what `text` gives. */
export function copyButton(label, about, text) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text());
      say(`${about}: copied`);
    } catch {
      say("The browser does not let this page copy");
    }
  };
  return el("button", { type: "button", "aria-label": about, onclick: copy }, label);
}

export const WIRES = {
  canonical: "Canonical form",
  anthropic_messages: "Anthropic Messages",
  openai_chat: "OpenAI Chat",
  openai_responses: "OpenAI Responses",
  gemini_generate: "Gemini",
  ollama_chat: "Ollama",
  bedrock_converse: "Bedrock Converse",
  cohere_chat: "Cohere Chat",
};

export const nameOf = (wire) => WIRES[wire] ?? wire;
export const OPS = { drop: "dropped", replace: "replaced", move: "moved", merge: "merged" };
export const SEVERITIES = ["lost", "weakened", "representation"];

/** `2 lost, 1 representation` as labels; `nothing lost` where a report is empty. */
export function badges(counts) {
  const found = SEVERITIES.filter((word) => counts[word]);
  if (!found.length) return [el("span", { class: "severity none" }, "nothing lost")];
  return found.map((word) => el("span", { class: `severity ${word}` }, `${counts[word]} ${word}`));
}
