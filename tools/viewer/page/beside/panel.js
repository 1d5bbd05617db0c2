// The tabs beside the charts: states, the profile of an interval, messages, marks.
import * as format from "../format.js";
import { matrixOf } from "../run/messages.js";
import { kWaits, profileOf } from "../run/profile.js";
import { updateLegend } from "./legend.js";
import { drawMatrix } from "./matrix.js";

const kMostPairs = 6;

export function attachPanel(app) {
  const tabs = [...app.elements.tabs.querySelectorAll("button")];
  for (const tab of tabs) {
    tab.addEventListener("click", () => showTab(app, tab.dataset.tab));
  }
  showTab(app, "states");
}

export function showTab(app, name) {
  app.tab = name;
  for (const tab of app.elements.tabs.querySelectorAll("button")) {
    const chosen = tab.dataset.tab === name;
    tab.setAttribute("aria-selected", String(chosen));
    document.getElementById(`tab-${tab.dataset.tab}`).hidden = !chosen;
  }
  updatePanel(app);
}

// Fills the open tab, for the dragged interval or else for the window.
export function updatePanel(app) {
  const fill = { states: updateLegend, profile: fillProfile, messages: fillMessages, marks: fillMarks };
  fill[app.tab]?.(app);
}

function shownInterval({ interval, viewport }) {
  return interval ?? { t0: viewport.t0, t1: viewport.t1 };
}

function element(tag, text, properties = {}) {
  const made = Object.assign(document.createElement(tag), properties);
  made.textContent = text;
  return made;
}

function intervalText(app) {
  const { t0, t1 } = shownInterval(app);
  return `${app.interval ? "Interval" : "In view"}: ${format.moment(t0)} to ${format.moment(t1)}, ${format.time(t1 - t0)}`;
}

function fillProfile(app) {
  const { model, elements } = app;
  const shown = shownInterval(app);
  const rows = profileOf(app, shown);
  const waits = rows.filter((row) => kWaits.includes(row.name)).reduce((sum, row) => sum + row.exclusive, 0);
  const moved = app.requests.bandwidth.sums(shown.t0, shown.t1);
  const spent = shown.t1 - shown.t0;
  const facts = [
    intervalText(app),
    `written ${format.bytes(moved[1])} at ${format.rate(moved[1], spent)}, read ${format.bytes(moved[0])} at ${format.rate(moved[0], spent)}`,
    `waiting for other ranks: ${format.time(waits / model.rankCount)} per rank`,
  ];
  elements.profilefacts.replaceChildren(...facts.map((text) => element("p", text, { className: "hint" })));
  const perRank = (ns) => (ns > 0 ? format.time(ns / model.rankCount) : "");
  elements.profilerows.replaceChildren(
    ...rows.map((row) => {
      const line = document.createElement("tr");
      const name = element("td", row.name, { title: row.bytes > 0 ? `${format.bytes(row.bytes)}` : "" });
      name.style.setProperty("--state", app.palette.css[row.kind]);
      line.dataset.kind = row.name;
      line.append(name, ...[format.count(row.count), perRank(row.inclusive), perRank(row.exclusive)].map((text) => element("td", text)));
      return line;
    }),
  );
}

function fillMessages(app) {
  const { model, elements } = app;
  const anyMessage = model.kinds.some(({ name, occurs }) => occurs && (name === "send" || name === "receive"));
  elements.matrix.hidden = !anyMessage;
  if (!anyMessage) {
    elements.messagefacts.textContent = "This trace holds no messages: STRIA_TRACE=full records them.";
    return;
  }
  const matrix = matrixOf(model, shownInterval(app));
  drawMatrix(app, elements.matrix, matrix);
  const sent = matrix.bytes.reduce((a, b) => a + b, 0);
  const count = matrix.count.reduce((a, b) => a + b, 0);
  elements.messagefacts.textContent = `${intervalText(app)}. ${format.count(count)} messages, ${format.bytes(sent)}.`;
  const pairs = [...matrix.bytes.keys()].filter((cell) => matrix.count[cell] > 0).sort((a, b) => matrix.bytes[b] - matrix.bytes[a]);
  elements.pairs.replaceChildren(
    ...pairs.slice(0, kMostPairs).map((cell) => {
      const [from, to] = [Math.floor(cell / model.rankCount), cell % model.rankCount];
      return element("li", `rank ${from} to ${to}: ${format.bytes(matrix.bytes[cell])} in ${format.count(matrix.count[cell])}`);
    }),
  );
  elements.matrix.setAttribute("aria-label", `Bytes from each rank (down) to each (across): ${elements.pairs.textContent}`);
}

function fillMarks(app) {
  const list = app.elements.marklist;
  if (list.contains(document.activeElement) && document.activeElement.tagName === "INPUT") {
    return; // a name is being typed
  }
  list.replaceChildren(
    ...app.marks.map((mark, index) => {
      const item = document.createElement("li");
      const name = Object.assign(document.createElement("input"), { value: mark.name, ariaLabel: `Name of mark ${index + 1}` });
      name.addEventListener("input", () => {
        mark.name = name.value;
        app.changed();
      });
      const since = index > 0 ? ` (+${format.time(mark.time - app.marks[index - 1].time)})` : "";
      const go = element("button", `${format.moment(mark.time)}${since}`, { type: "button" });
      go.addEventListener("click", () => {
        app.viewport.pan(mark.time - (app.viewport.t0 + app.viewport.t1) / 2);
        app.changed();
      });
      const remove = element("button", "×", { type: "button", ariaLabel: `Remove mark ${mark.name}` });
      remove.addEventListener("click", () => {
        app.marks.splice(index, 1);
        app.changed();
      });
      item.append(name, go, remove);
      return item;
    }),
  );
}
