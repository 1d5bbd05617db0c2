// The legend: every state with its colour and its share of the ranks' time; a click hides or shows it.
import * as format from "./format.js";

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

export function updateLegend(app) {
  const totals = app.states.totals();
  const whole = app.model.duration * app.model.rankCount;
  for (const [kind, button] of app.legendButtons) {
    const hidden = Boolean(app.hidden[kind]);
    const share = format.percent(totals[kind] / whole);
    button.setAttribute("aria-pressed", String(!hidden));
    button.querySelector(".swatch").style.background = app.palette.css[kind];
    button.querySelector(".share").textContent = hidden ? "hidden" : share;
    const { name } = app.model.kinds[kind];
    const calls = format.count(app.kindCounts[kind]);
    button.title = `${name}: ${calls} ${calls === "1" ? "span" : "spans"}; innermost state for ${share} of the ranks' time`;
  }
}
