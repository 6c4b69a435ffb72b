// The playground: one value, as every wire has it, with what is lost at its places.

import { post } from "./api.js";
import { curl } from "./curl.js";
import { $, OPS, SEVERITIES, WIRES, badges, copyButton, el, nameOf, say } from "./dom.js";
import { fill, locate, ranges } from "./marking.js";

const KINDS = { request: "a request", response: "an answer", stream: "a stream", error: "an error" };
const WAIT_MS = 250;
const MOST = 4 << 20;

const given = $("given");
let compared = null; // what the gateway said last, of `text`
let binary = null; // a file that is no text, as base64
let shown = "all"; // the wire that is looked at alone, or all
let chosen = null; // the id of the loss that is looked at
let asking = null;
let timer = 0;

/** Prepares the playground: the gateway's wires, and the examples to begin with. */
export async function start(wires) {
  $("wire").append(...["canonical", ...wires].map((wire) => el("option", { value: wire }, nameOf(wire))));
  const examples = await (await fetch("/inspector/examples.json")).json();
  $("example").append(...examples.map((example, index) => el("option", { value: index }, example.title)));
  $("example").addEventListener("change", () => {
    const example = examples[$("example").value];
    if (example) show(example.text);
  });
  given.addEventListener("input", () => {
    binary = null;
    $("example").value = "";
    later();
  });
  given.addEventListener("scroll", follow);
  $("kind").addEventListener("change", compare);
  $("wire").addEventListener("change", compare);
  $("clear").addEventListener("click", () => {
    $("example").value = "";
    show("");
    given.focus();
  });
  $("file").addEventListener("change", () => take($("file").files[0]));
  const drop = $("drop");
  drop.addEventListener("dragover", (event) => {
    event.preventDefault();
    drop.classList.add("dropping");
  });
  drop.addEventListener("dragleave", () => drop.classList.remove("dropping"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("dropping");
    const { files } = event.dataTransfer;
    if (files.length) take(files[0]);
    else show(event.dataTransfer.getData("text"));
  });
  $("example").value = "0";
  show(examples[0].text);
}

function show(text) {
  binary = null;
  given.value = text;
  given.scrollTop = given.scrollLeft = 0;
  $("kind").value = $("wire").value = "";
  compare();
}

async function take(file) {
  if (!file) return;
  if (file.size > MOST) {
    problem({ message: "The file is larger than the 4 MiB that the playground takes." });
    return;
  }
  const bytes = new Uint8Array(await file.arrayBuffer());
  $("example").value = "";
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (text.includes("\0")) throw new TypeError("no text");
    show(text);
  } catch {
    let letters = "";
    for (let at = 0; at < bytes.length; at += 8192) letters += String.fromCharCode(...bytes.subarray(at, at + 8192));
    show("");
    binary = btoa(letters);
    compare();
  }
}

function later() {
  clearTimeout(timer);
  timer = setTimeout(compare, WAIT_MS);
  mark();
}

async function compare() {
  clearTimeout(timer);
  asking?.abort();
  const text = given.value;
  if (!text.trim() && !binary) {
    compared = null;
    chosen = null;
    problem(null);
    $("recognised").textContent = "";
    render();
    return;
  }
  asking = new AbortController();
  $("sides").setAttribute("aria-busy", "true");
  const value = binary ? { base64: binary } : { text };
  if ($("kind").value) value.kind = $("kind").value;
  if ($("wire").value) value.wire = $("wire").value;
  try {
    const answer = await post("/v1/interlingua/compare", value, asking.signal);
    chosen = null;
    if (binary && answer.kind === "stream" && !answer.error) given.value = joined(answer.sides[0].pieces).text;
    problem(answer.error);
    told(answer);
    if (!answer.error) compared = { ...answer, text: given.value };
    else if (compared) compared = { ...compared, stale: true };
    number();
    render();
  } catch (failure) {
    if (failure.name !== "AbortError") problem({ message: failure.message });
  } finally {
    $("sides").setAttribute("aria-busy", "false");
  }
}

function told(answer) {
  const by = $("kind").value || $("wire").value ? "Read as" : "Recognised:";
  $("recognised").textContent =
    answer.error && !answer.recognised.length ? "" : `${by} ${KINDS[answer.kind]} of ${nameOf(answer.wire)}`;
  $("source-name").textContent = answer.error ? "" : `${KINDS[answer.kind].replace(/^an? /, "")} · ${nameOf(answer.wire)}`;
}

function problem(error) {
  $("problem").hidden = !error;
  $("problem").textContent = error ? `${error.message}${error.path ? ` (at ${error.path})` : ""}` : "";
}

/** Gives each loss an id of its own, so that its marks and its line know each other. */
function number() {
  for (const side of compared?.sides ?? []) {
    side.loss.forEach((entry, index) => (entry.id = `${side.wire}-${index}`));
  }
}

// ------------------------------------------------------------------------------------------------ what is seen

/** The sides in the order of the names, that of the value itself last: it is what is known already. */
const targets = () => {
  const order = Object.keys(WIRES);
  const place = (side) => (side.wire === compared.wire && side.wire !== "canonical" ? order.length + 1 : order.indexOf(side.wire));
  return compared.sides.filter((side) => side.wire !== "source").sort((one, other) => place(one) - place(other));
};
const visible = () => targets().filter((side) => shown === "all" || side.wire === shown);
const counts = (loss) => Object.fromEntries(SEVERITIES.map((word) => [word, loss.filter((entry) => entry.severity === word).length]));

/** The pieces of a stream as one text, with the range of each event in it. */
function joined(pieces) {
  let text = "";
  const events = new Map();
  for (const piece of pieces) {
    if (text && piece.text) text += "\n\n";
    for (const event of piece.events) {
      events.set(event, [...(events.get(event) ?? []), [text.length, text.length + piece.text.length]]);
    }
    text += piece.text;
  }
  return { text, events };
}

function render() {
  mark();
  $("chips").replaceChildren(...(compared ? chips() : []));
  $("sides").classList.toggle("stale", Boolean(compared?.stale));
  $("sides").classList.toggle("one", shown !== "all");
  $("sides").replaceChildren(...(compared ? visible().map(card) : [el("p", { class: "empty" }, "Paste something on the left, or choose an example.")]));
  follow();
}

function chips() {
  const chip = (wire, name, marks) => {
    const choose = () => {
      shown = wire;
      chosen = null;
      render();
      $("chips").querySelector(`[data-wire="${wire}"]`).focus();
    };
    const pressed = String(shown === wire);
    return el("button", { type: "button", class: "chip", "data-wire": wire, "aria-pressed": pressed, onclick: choose }, name, marks);
  };
  return [
    chip("all", "All side by side", []),
    ...targets().map((side) => {
      const own = side.wire === compared.wire;
      const marks = side.error
        ? [el("span", { class: "severity error" }, "refused")]
        : own
          ? [el("span", { class: "severity none" }, side.wire === "canonical" ? "given" : "exact")]
          : side.wire === "canonical"
            ? []
            : badges(counts(side.loss));
      return chip(side.wire, nameOf(side.wire), marks);
    }),
  ];
}

function card(side) {
  const name = nameOf(side.wire);
  const title = `side-${side.wire}`;
  const own = side.wire === compared.wire;
  const stream = side.pieces !== null;
  const text = stream ? joined(side.pieces).text : (side.text ?? "");
  const body = el("pre", { tabindex: "0", role: "region", "aria-label": `${compared.kind} in ${name}`, "data-wire": side.wire });
  const actions = side.error
    ? []
    : [copyButton("Copy", `Copy ${name}`, () => text), copyButton("curl", `Copy ${name} as curl`, () => curl(compared, side, given.value, binary))];
  const summary = own
    ? [el("span", { class: "severity none" }, side.wire === "canonical" ? "as given" : "given back exactly")]
    : side.wire === "canonical"
      ? []
      : badges(counts(side.loss));
  const made = el(
    "section",
    { class: "card side", "aria-labelledby": title, "data-wire": side.wire },
    el("div", { class: "card-head" }, el("h2", { id: title }, name), el("div", { class: "badges" }, side.error ? [] : summary), el("div", { class: "actions" }, actions)),
    side.path ? el("p", { class: "path" }, `POST ${side.path}`) : null,
    side.status ? el("p", { class: "path" }, `HTTP ${side.status}${headersOf(side.headers)}`) : null,
    side.error ? el("p", { class: "problem" }, `${name} cannot take this. ${side.error.message}`) : body,
    side.loss.length ? losses(side) : null,
  );
  if (!side.error) fill(body, text, marksOf(side, text));
  body.addEventListener("click", chooseMark);
  return made;
}

const headersOf = (headers) =>
  Object.entries(headers ?? {})
    .filter(([name]) => name !== "content-type")
    .map(([name, value]) => ` · ${name}: ${value}`)
    .join("");

/** The marks of a target: of its own losses; the canonical form has those of all that are shown. */
function marksOf(side, text) {
  if (side.pieces) {
    const { events } = joined(side.pieces);
    const reported = side.wire === "canonical" ? seen() : side.loss;
    return reported.flatMap((entry) => ofEvents(events, entry));
  }
  if (side.wire === "canonical") {
    return ranges(locate(text), seen().map((entry) => ({ pointer: entry.path, entry, around: false })));
  }
  return ranges(locate(text), side.loss.flatMap((entry) => entry.target.map((pointer) => ({ pointer, entry, around: entry.around }))));
}

/** The ranges of an entry in a stream; where its events said nothing, the piece that came next, as what stood around. */
function ofEvents(events, entry) {
  const found = entry.events.flatMap((event) => (events.get(event) ?? []).map(([from, to]) => ({ from, to, entry, around: false })));
  if (found.some((range) => range.from < range.to)) return found;
  const next = [...events.keys()].sort((one, other) => one - other).find((event) => event > Math.max(...entry.events) && events.get(event).length);
  return next === undefined ? [] : events.get(next).map(([from, to]) => ({ from, to, entry, around: true }));
}

/** The losses of what is shown: those that colour the source and the canonical form. */
const seen = () => visible().flatMap((side) => side.loss).concat(shown === "canonical" ? targets().flatMap((side) => side.loss) : []);

/** Colours the source. While it is edited, the colours of the text before are not shown at wrong places. */
function mark() {
  const text = given.value;
  const fresh = compared && !compared.stale && compared.text === text;
  let marked = [];
  if (fresh && compared.kind === "stream") marked = streamMarks(text);
  else if (fresh) {
    const own = compared.wire === "canonical";
    const places = seen().flatMap((entry) => (own ? [entry.path] : entry.source).map((pointer) => ({ pointer, entry, around: false })));
    marked = ranges(locate(text), places);
  }
  fill($("marks"), `${text}\n`, marked);
  follow();
}

function streamMarks(text) {
  const source = compared.sides.find((side) => side.wire === "source");
  const events = new Map();
  let at = 0;
  for (const piece of source.pieces) {
    const from = text.indexOf(piece.text, at);
    if (from < 0 || !piece.text) continue;
    at = from + piece.text.length;
    for (const event of piece.events) events.set(event, [[from, at]]);
  }
  return seen().flatMap((entry) => ofEvents(events, entry));
}

/** The marks behind the source scroll with it. */
function follow() {
  $("marks").scrollTop = given.scrollTop;
  $("marks").scrollLeft = given.scrollLeft;
}

function losses(side) {
  const line = (entry) =>
    el(
      "li",
      {},
      el(
        "button",
        { type: "button", class: "loss", "data-entry": entry.id, "aria-pressed": String(chosen === entry.id), onclick: () => choose(entry.id) },
        el("span", { class: `severity ${entry.severity}` }, entry.severity),
        el(
          "span",
          { class: "why" },
          el("span", { class: "message" }, entry.message),
          el("code", {}, `${OPS[entry.op]} ${entry.path}${entry.to ? ` → ${entry.to}` : ""}`),
        ),
      ),
    );
  const sorted = [...side.loss].sort((one, other) => SEVERITIES.indexOf(one.severity) - SEVERITIES.indexOf(other.severity));
  return el("ul", { class: "losses", "aria-label": `What ${nameOf(side.wire)} loses` }, sorted.map(line));
}

function chooseMark(event) {
  const found = event.target.closest("mark");
  if (found) choose(found.dataset.entries.split(" ")[0]);
}

/** Shows a loss on all sides: its marks stand out, and come into sight. */
function choose(id) {
  chosen = chosen === id ? null : id;
  for (const button of $("sides").querySelectorAll(".loss")) button.setAttribute("aria-pressed", String(button.dataset.entry === chosen));
  for (const pane of [$("marks"), ...$("sides").querySelectorAll("pre")]) {
    let first = null;
    for (const marked of pane.querySelectorAll("mark")) {
      const is = chosen !== null && marked.dataset.entries.split(" ").includes(chosen);
      marked.classList.toggle("chosen", is);
      first ??= is ? marked : null;
    }
    if (first) {
      const scrolled = pane === $("marks") ? given : pane;
      scrolled.scrollTop = Math.max(0, first.offsetTop - scrolled.clientHeight / 3);
      scrolled.scrollLeft = first.offsetLeft > scrolled.clientWidth * 0.6 ? first.offsetLeft - 40 : 0;
    }
  }
  follow();
  if (chosen) {
    const entry = targets().flatMap((side) => side.loss).find((one) => one.id === chosen);
    say(`${entry.severity}: ${entry.message}, ${entry.path}`, false);
  }
}
