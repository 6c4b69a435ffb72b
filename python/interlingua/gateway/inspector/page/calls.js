// The live list of calls, and one call opened.

import { events, get } from "./api.js";
import { $, OPS, SEVERITIES, badges, copyButton, el, nameOf } from "./dom.js";

const SLOTS = {
  per_message_override: "Named in the message",
  manual_sticky: "Named in the call",
  rule: "Rules of the policy",
  pattern: "What worked before",
  delegate_request: "Asked for by a delegating turn",
  workspace_default: "Default of the workspace",
  global_default: "Default of the policy",
};
const VERDICTS = { not_applicable: "nothing to say", deferred: "left to the next", rejected: "rejected", chose: "chose" };
const AGAIN_MS = 2000;
const MOST_ROWS = 300;

const records = new Map(); // by id, the oldest first
let gateway = null;
let opened = null; // the id of the call that is looked at
let following = null; // ends the stream of its content
let scheduled = false;

/** Begins to watch. */
export function start(about) {
  gateway = about;
  $("content-note").textContent = about.inspect
    ? `Content of the last ${about.inspect} calls is kept in memory. It is gone when the gateway ends.`
    : "Content is not kept. Start the gateway with --inspect, and a call shows what it carried, event by event.";
  $("no-calls").replaceChildren(
    el("p", {}, "No calls yet. Point a client at this gateway, or ask it yourself:"),
    el("pre", { tabindex: "0", role: "region", "aria-label": "A first call" }, first()),
    copyButton("Copy", "Copy the first call", first),
  );
  $("filter").addEventListener("input", draw);
  watch();
}

const first = () =>
  `curl ${location.origin}/v1/messages -H 'content-type: application/json' \\\n  --data '{"model": "openai:gpt-5.4", "max_tokens": 100, "messages": [{"role": "user", "content": "Hi"}]}'`;

async function watch() {
  for (;;) {
    try {
      for await (const [name, data] of events("/v1/interlingua/live")) {
        live("Live", true);
        if (name !== "call") continue;
        const record = JSON.parse(data);
        records.set(record.id, record);
        schedule();
      }
    } catch {
      // it is tried again below
    }
    live("The gateway does not answer. Trying again …", false);
    await new Promise((done) => setTimeout(done, AGAIN_MS));
  }
}

function live(text, up) {
  if ($("live").textContent !== text) $("live").textContent = text;
  $("live").classList.toggle("up", up);
}

/** Draws once for all that came together. */
function schedule() {
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(() => {
    scheduled = false;
    draw();
  });
}

function draw() {
  const words = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = [...records.values()].reverse().filter((record) => words.every((word) => searched(record).includes(word)));
  const running = [...records.values()].filter((record) => record.status === null).length;
  $("running").hidden = !running;
  $("running").textContent = running ? `${running} running` : "";
  $("no-calls").hidden = records.size > 0;
  $("list").hidden = !records.size;
  const focused = document.activeElement?.dataset?.call;
  $("list").tBodies[0].replaceChildren(...rows.slice(0, MOST_ROWS).map(row));
  if (focused) $("list").querySelector(`[data-call="${focused}"]`)?.focus();
}

const searched = (record) =>
  [record.id, record.key, record.adapter, nameOf(record.adapter), record.asked_model, record.model, record.status, record.category, record.loss]
    .join(" ")
    .toLowerCase();

function row(record) {
  const link = el("a", { href: `#calls/${record.id}`, "data-call": record.id }, time(record.began_at));
  const cell = (label, ...content) => el("td", { "data-label": label }, ...content);
  return el(
    "tr",
    { class: record.id === opened ? "open" : null, "data-id": record.id },
    cell("Time", link),
    cell("Client asked", el("span", { class: "strong" }, record.asked_model ?? "–"), el("span", { class: "under" }, `${nameOf(record.adapter)}${gateway.keys ? ` · ${record.key}` : ""}`)),
    cell("Answered by", record.model ?? "–", record.attempts.length ? el("span", { class: "under" }, `after ${record.attempts.length} tried`) : null),
    cell("Status", status(record)),
    cell("Tokens", tokens(record.usage)),
    cell("Cost", cost(record.usage)),
    cell("Lost on the way", record.model ? el("span", { class: "badges" }, badges(countsOf(record.loss))) : "–"),
    cell("First", seconds(record.seconds_to_first_event)),
    cell("Total", record.status === null ? "…" : seconds(record.seconds)),
  );
}

const time = (text) => new Date(text).toLocaleTimeString([], { hour12: false });
const seconds = (value) => (value === null ? "–" : value < 1 ? `${Math.round(value * 1000)} ms` : `${value.toFixed(2)} s`);
const cost = (usage) => (!usage ? "–" : usage.cost_usd === null || usage.cost_usd === undefined ? "unpriced" : `$${usage.cost_usd}`);
const countsOf = (text) => Object.fromEntries(text === "none" ? [] : text.split(", ").map((part) => part.split("=")));

function tokens(usage) {
  if (!usage) return "–";
  const prompt = (usage.input_tokens ?? 0) + (usage.cached_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0);
  return `${prompt} in · ${usage.output_tokens ?? 0} out`;
}

function status(record) {
  if (record.status === null) return el("span", { class: "severity running" }, "running");
  const well = record.status < 400 && !record.category;
  return el("span", { class: `severity ${well ? "none" : "lost"}` }, record.category && record.status < 400 ? `${record.status} ${record.category}` : well ? `${record.status}` : `${record.status} ${record.category ?? ""}`);
}

// ------------------------------------------------------------------------------------------------ one call

/** Opens a call by its id; null closes. */
export async function open(id) {
  following?.abort();
  following = null;
  opened = id;
  $("call").hidden = !id;
  document.querySelector(".calls-layout").classList.toggle("with-call", Boolean(id));
  draw();
  if (!id) return;
  const view = callView(id);
  $("call").replaceChildren(...view.parts);
  $("call").focus({ preventScroll: true });
  $("call").scrollIntoView({ block: "nearest" });
  following = new AbortController();
  try {
    view.record(await get(`/v1/interlingua/calls/${encodeURIComponent(id)}`));
    for await (const [name, data] of events(`/v1/interlingua/calls/${encodeURIComponent(id)}/content`, following.signal)) {
      view.took(name, JSON.parse(data));
    }
  } catch (failure) {
    if (failure.name !== "AbortError") view.problem(failure.message);
  }
}

function callView(id) {
  const facts = el("dl", { class: "facts" });
  const route = el("div", { class: "part" });
  const lost = el("div", { class: "part" });
  const content = el("div", { class: "part contents" });
  const answer = el("ol", { class: "events", "aria-label": "The answer, event by event" });
  const panes = new Map();
  let count = 0;

  const head = el(
    "div",
    { class: "card-head" },
    el("h2", { id: "call-title" }, "Call ", el("code", {}, id)),
    el("div", { class: "actions" }, copyButton("Copy id", "Copy the id of the call", () => id), el("a", { class: "button", href: "#calls" }, "Close")),
  );

  function record(told) {
    facts.replaceChildren(...factsOf(told).map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
    route.replaceChildren(...routeOf(told));
    lost.replaceChildren(...lossOf(told));
  }

  function pane(name, title, value) {
    const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
    const made = el(
      "details",
      { open: panes.has(name) ? panes.get(name).open : false },
      el("summary", {}, title),
      el("div", { class: "actions" }, copyButton("Copy", `Copy: ${title}`, () => text)),
      el("pre", { tabindex: "0", role: "region", "aria-label": title }, text),
    );
    if (panes.has(name)) panes.get(name).replaceWith(made);
    else content.insertBefore(made, answerTitle);
    panes.set(name, made);
  }

  function event({ at, event: value, sent }) {
    count += 1;
    const text = value.text ?? (value.delta ? JSON.stringify(value.delta) : "");
    answer.append(
      el(
        "li",
        {},
        el(
          "details",
          {},
          el("summary", {}, el("span", { class: "at" }, `${Math.round(at * 1000)} ms`), el("code", {}, value.type), el("span", { class: "said-text" }, text)),
          el("h4", {}, "Canonical event"),
          el("pre", { tabindex: "0", role: "region", "aria-label": `Event ${count}, canonical` }, JSON.stringify(value, null, 2)),
          sent === null ? null : el("h4", {}, "What the client was sent"),
          sent === null ? null : el("pre", { tabindex: "0", role: "region", "aria-label": `Event ${count}, as sent` }, sent || "nothing"),
        ),
      ),
    );
  }

  function took(name, value) {
    if (name === "none") {
      content.replaceChildren(
        el("p", { class: "quiet" }, value.inspect ? "The content of this call is no longer kept." : "The content of this call was not kept: the gateway runs without --inspect."),
      );
    } else if (name === "client") pane(name, `1 · The client's request: ${value.method} ${value.path}`, value);
    else if (name === "canonical") pane(name, "2 · In canonical form", value);
    else if (name === "provider") pane(name, `3 · The provider's request: ${value.model}`, value);
    else if (name === "error") pane(name, "The error that ended the call", value);
    else if (name === "event") event(value);
    else if (name === "end") record(value);
  }

  const answerTitle = el("h4", {}, "4 · The answer, event by event");
  content.append(el("h3", {}, "What it carried"), answerTitle, answer);
  const problem = (message) => content.replaceChildren(el("p", { class: "problem", role: "alert" }, message));
  return { parts: [head, facts, route, lost, content], record, took, problem };
}

function factsOf(told) {
  const usage = told.usage;
  return [
    ["Began", new Date(told.began_at).toLocaleString([], { hour12: false })],
    ["Client", `${nameOf(told.adapter)}${gateway.keys ? ` · key ${told.key}` : ""}`],
    ["Asked for", told.asked_model ?? "–"],
    ["Answered by", told.model ?? "–"],
    ["Status", told.status === null ? "running" : `${told.status}${told.category ? ` ${told.category}` : ""}`],
    ["Tokens", tokens(usage)],
    ["Cost", cost(usage)],
    ["First event", seconds(told.seconds_to_first_event)],
    ["Whole call", seconds(told.seconds)],
  ];
}

/** The seven slots of the decision, those behind the winner as not asked. */
function routeOf(told) {
  if (!told.route) return [el("h3", {}, "Why this model"), el("p", { class: "quiet" }, "Nobody was chosen.")];
  const said = told.route.slots;
  let over = false;
  const rows = Object.entries(SLOTS).map(([slot, name]) => {
    const here = said.filter((verdict) => verdict.policy === slot);
    const lines = here.length
      ? here.map((verdict) => {
          over ||= verdict.verdict === "chose";
          const reason = slot === "manual_sticky" && told.route.mapped ? `the policy serves “${told.asked_model}” with it` : verdict.reason;
          const why = [verdict.candidate_model, verdict.rule_name && `rule ${verdict.rule_name}`, verdict.validation_failure, reason]
            .filter(Boolean)
            .filter((word) => word !== "nothing set");
          return el("span", { class: `verdict ${verdict.verdict}` }, el("b", {}, VERDICTS[verdict.verdict] ?? verdict.verdict), why.length ? ` ${why.join(" · ")}` : "");
        })
      : [el("span", { class: "verdict not_applicable" }, el("b", {}, over ? "not asked" : "nothing to say"))];
    return el("li", { class: here.some((verdict) => verdict.verdict === "chose") ? "winner" : null }, el("span", { class: "slot" }, name), el("span", { class: "verdicts" }, lines));
  });
  const tried = told.attempts.map((one) => el("li", {}, `${one.model}: ${one.category ?? one.reason ?? "failed"}${one.status ? ` (${one.status})` : ""}`));
  return [
    el("h3", {}, "Why this model"),
    el("ol", { class: "slots", "aria-label": "The seven slots of the decision" }, rows),
    tried.length ? el("h4", {}, "Tried or passed over before") : null,
    tried.length ? el("ul", { class: "tried" }, tried) : null,
    told.route.models.length > 1 ? el("p", { class: "quiet" }, `In turn: ${told.route.models.join(", ")}`) : null,
  ].filter(Boolean);
}

function lossOf(told) {
  const all = [...told.request_loss.map((entry) => ["request", entry]), ...told.answer_loss.map((entry) => ["answer", entry])];
  if (!told.model) return [];
  all.sort(([, one], [, other]) => SEVERITIES.indexOf(one.severity) - SEVERITIES.indexOf(other.severity));
  return [
    el("h3", {}, "Lost on the way"),
    all.length
      ? el(
          "ul",
          { class: "losses plain", "aria-label": "Lost on the way" },
          all.map(([where, entry]) =>
            el(
              "li",
              { class: "loss" },
              el("span", { class: `severity ${entry.severity}` }, entry.severity),
              el("span", { class: "why" }, el("span", { class: "message" }, entry.message), el("code", {}, `${where}: ${OPS[entry.op]} ${entry.path}${entry.to ? ` → ${entry.to}` : ""}`)),
            ),
          ),
        )
      : el("p", { class: "quiet" }, "Nothing."),
  ];
}
