// Where JSON Pointers stand in a text, and a text with marks at its places.

import { SEVERITIES, el } from "./dom.js";

/** The place of each value in a JSON text: pointer → [from, to], members with their names. Empty for what is no JSON. */
export function locate(text) {
  const places = new Map();
  let at = 0;
  const space = () => {
    while (at < text.length && " \n\r\t".includes(text[at])) at += 1;
  };
  const string = () => {
    const from = at;
    at += 1;
    while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
    at += 1;
    return JSON.parse(text.slice(from, at));
  };
  const value = (pointer, from) => {
    space();
    const start = from ?? at;
    if (text[at] === "{" || text[at] === "[") {
      const list = text[at] === "[";
      at += 1;
      for (let position = 0; ; position += 1) {
        space();
        if (at >= text.length) throw new SyntaxError("the text ends");
        if (text[at] === "}" || text[at] === "]") break;
        if (text[at] === ",") {
          at += 1;
          space();
        }
        if (list) {
          value(`${pointer}/${position}`);
          continue;
        }
        const member = at;
        const name = string();
        space();
        at += 1; // the colon
        value(`${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`, member);
      }
      at += 1;
    } else if (text[at] === '"') {
      string();
    } else {
      const begin = at;
      while (at < text.length && !",]} \n\r\t".includes(text[at])) at += 1;
      if (at === begin) throw new SyntaxError("no value");
    }
    places.set(pointer, [start, at]);
  };
  try {
    value("");
  } catch {
    return new Map();
  }
  return places;
}

/** The ranges of pointers in a text: [{from, to, entry, around}]. The whole document is no place. */
export function ranges(places, found) {
  return found.flatMap(({ pointer, entry, around }) => {
    const place = pointer === "" ? undefined : places.get(pointer);
    return place ? [{ from: place[0], to: place[1], entry, around }] : [];
  });
}

/** Fills an element with a text whose ranges are marked, each with the worst severity of what stands there. */
export function fill(element, text, marked) {
  const cuts = new Set([0, text.length]);
  for (const { from, to } of marked) {
    cuts.add(from);
    cuts.add(Math.min(to, text.length));
  }
  const sorted = [...cuts].sort((one, other) => one - other);
  const children = [];
  for (let index = 0; index + 1 < sorted.length; index += 1) {
    const [from, to] = [sorted[index], sorted[index + 1]];
    const here = marked.filter((range) => range.from <= from && to <= range.to);
    const part = text.slice(from, to);
    children.push(...(here.length ? mark(part, here, from) : [part]));
  }
  element.replaceChildren(...children);
}

/** The marks of a part, one for each line, without its indentation. Of what only stood around a value, the first line. */
function mark(text, here, from) {
  const own = here.some((range) => !range.around) ? here.filter((range) => !range.around) : here;
  const severity = SEVERITIES.find((word) => own.some((range) => range.entry.severity === word));
  const around = own.every((range) => range.around);
  const ids = own.map((range) => range.entry.id).join(" ");
  const title = own.map((range) => `${range.entry.severity}: ${range.entry.message}${around ? " (it stood around here)" : ""}`).join("\n");
  if (around && !own.some((range) => range.from === from)) return [text];
  return text.split(/(\n[ \t]*)/).map((line, index) => {
    if (index % 2 || !line || (around && index)) return line;
    return el("mark", { class: `${severity}${around ? " around" : ""}`, "data-entries": ids, title }, line);
  });
}
