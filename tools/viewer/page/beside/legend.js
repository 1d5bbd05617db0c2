// The legend: every state in view, with its colour and its share of the time in I/O there. A click
// hides or shows it.
import * as format from "../format.js";
import { isIo } from "../run/bursts.js";

const kLevels = [
  ["app", "Application calls"],
  ["library", "Library calls"],
  ["engine", "Engine phases"],
  ["storage", "Storage and messages"],
];

export function buildLegend(app, element) {
  element.replaceChildren();
  app.legendButtons = new Map();
  for (const [level, title] of kLevels) {
    const kinds = app.model.kinds.map((kind, index) => ({ ...kind, index })).filter((kind) => kind.level === level);
    const used = kinds.filter((kind) => app.kindCounts[kind.index] > 0);
    if (used.length === 0) {
      continue;
    }
    const heading = document.createElement("h3");
    heading.textContent = title;
    const list = document.createElement("ul");
    for (const kind of used) {
      list.append(legendItem(app, kind));
    }
    element.append(heading, list);
  }
  updateLegend(app);
}

function legendItem(app, kind) {
  const item = document.createElement("li");
  const button = document.createElement("button");
  button.type = "button";
  button.className = "state";
  button.dataset.kind = kind.name;
  for (const part of ["swatch", "name", "share"]) {
    const span = document.createElement("span");
    span.className = part;
    button.append(span);
  }
  button.querySelector(".name").textContent = kind.name;
  button.addEventListener("click", () => app.toggleKind(kind.index));
  item.append(button);
  app.legendButtons.set(kind.index, button);
  return item;
}

function inBackground(name, time) {
  return name.startsWith("background") ? time : `background ${time}`;
}

export function updateLegend(app) {
  const { states, io, flights, backgrounds } = app.timesInView();
  const ranks = app.model.rankCount;
  app.elements.inview.textContent = io > 0
    ? `I/O in view: ${format.time(io / ranks)} a rank, ${format.percent(io / (app.viewport.span * ranks))} of its time`
    : "No I/O in view";
  for (const [kind, button] of app.legendButtons) {
    const { name } = app.model.kinds[kind];
    const hidden = Boolean(app.hidden[kind]);
    const share = isIo(app.model.kinds[kind]) && states[kind] > 0 ? format.percent(states[kind] / io) : "";
    const time = format.time((states[kind] || flights[kind] || backgrounds[kind]) / ranks);
    const beside = flights[kind] > 0 ? `in flight ${time}` : backgrounds[kind] > 0 ? inBackground(name, time) : "";
    button.closest("li").hidden = !hidden && states[kind] === 0 && beside === "";
    button.setAttribute("aria-pressed", String(!hidden));
    button.querySelector(".swatch").style.background = app.palette.css[kind];
    button.querySelector(".share").textContent = hidden ? "hidden" : share || (states[kind] > 0 ? time : beside);
    const calls = format.count(app.kindCounts[kind]);
    const innermost = `innermost state for ${format.time((states[kind] + backgrounds[kind]) / ranks)} a rank in view`;
    button.title = `${name}: ${calls} ${calls === "1" ? "span" : "spans"} in the run; ${flights[kind] > 0 ? `in flight for ${time} a rank` : innermost}`;
  }
  for (const list of app.elements.legend.querySelectorAll("ul")) {
    list.previousElementSibling.hidden = list.hidden = [...list.children].every((item) => item.hidden);
  }
}
