// The inspector: its two views, its colours, and the key of a gateway that has keys.

import { Refused, get, useKey } from "./api.js";
import * as calls from "./calls.js";
import { $, say } from "./dom.js";
import * as playground from "./playground.js";

const VIEWS = ["playground", "calls"];
const THEMES = ["Auto", "Light", "Dark"];

function show() {
  const [wanted, id] = location.hash.slice(1).split("/");
  const view = VIEWS.includes(wanted) ? wanted : "playground";
  for (const name of VIEWS) {
    $(name).hidden = name !== view;
    $(`to-${name}`).toggleAttribute("aria-current", name === view);
    if (name === view) $(`to-${name}`).setAttribute("aria-current", "page");
  }
  document.title = `${view === "calls" ? "Calls" : "Playground"} · Interlingua inspector`;
  if (view === "calls") calls.open(id ?? null);
}

function colours() {
  const stored = localStorage.getItem("interlingua-theme");
  let theme = THEMES.includes(stored) ? stored : "Auto";
  const apply = () => {
    document.documentElement.dataset.theme = theme.toLowerCase();
    $("theme").textContent = theme;
    $("theme").setAttribute("aria-label", `Colours: ${theme === "Auto" ? "as the system" : theme.toLowerCase()}`);
  };
  $("theme").addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    localStorage.setItem("interlingua-theme", theme);
    apply();
  });
  apply();
}

/** What the gateway is; asks for a key until it has one that the gateway knows. */
async function about() {
  for (;;) {
    try {
      return await get("/v1/interlingua/about");
    } catch (failure) {
      if (!(failure instanceof Refused) || failure.status !== 401) throw failure;
      await askForKey(failure.message);
    }
  }
}

let asked = false;

function askForKey(message) {
  const dialog = $("ask-key");
  $("key-problem").hidden = !asked;
  $("key-problem").textContent = asked ? message : "";
  asked = true;
  $("key-value").value = "";
  return new Promise((done) => {
    dialog.addEventListener("cancel", (event) => event.preventDefault());
    dialog.addEventListener(
      "close",
      () => {
        useKey($("key-value").value.trim());
        $("key-value").value = "";
        done();
      },
      { once: true },
    );
    dialog.showModal();
  });
}

async function start() {
  colours();
  try {
    const gateway = await about();
    $("key").hidden = !gateway.keys;
    $("key").addEventListener("click", () => {
      useKey(null);
      location.reload();
    });
    calls.start(gateway);
    await playground.start(gateway.wires);
  } catch (failure) {
    say(`The gateway does not answer: ${failure.message}`);
  }
  window.addEventListener("hashchange", show);
  show();
}

start();
