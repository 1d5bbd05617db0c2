// The page: holds the run, what is shown of it, and what is chosen; redraws once a frame when any of them changes.
import { CanvasArea } from "./canvas_area.js";
import { drawBandwidth, drawOverview, drawSizes, drawStates } from "./charts.js";
import { takePayload } from "./columns.js";
import { attachControls } from "./controls.js";
import { fillRequest, heading } from "./details.js";
import { follow } from "./follow.js";
import * as format from "./format.js";
import { buildLegend, updateLegend } from "./legend.js";
import { makePalette } from "./palette.js";
import { makeCounters, makeRows, sortRows } from "./rows.js";
import { search } from "./search.js";
import { Segments } from "./segments.js";
import { requestSeries, stateSeries } from "./series.js";
import { kAxisHeight, Timeline } from "./timeline.js";
import { TraceModel } from "./trace_model.js";
import { Viewport } from "./viewport.js";

class App {
  constructor(payload) {
    this.model = new TraceModel(payload);
    this.viewport = new Viewport(this.model.duration);
    this.hidden = new Uint8Array(this.model.kinds.length);
    this.kindCounts = new Uint32Array(this.model.kinds.length);
    for (const kind of this.model.kind) {
      this.kindCounts[kind]++;
    }
    this.selection = null;
    this.matches = null;
    this.emphasis = null;
    this.counter = null;
    this.grouping = "rank";
    this.elements = Object.fromEntries([...document.querySelectorAll("[id]")].map((element) => [element.id, element]));
    this.tip = this.elements.tip;
    this.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    this.requests = requestSeries(this.model);
    this.rebuildStates();
    this.counters = makeCounters(this.model, this.segments);
    this.areas = Object.fromEntries(
      ["overview", "states", "bandwidth", "sizes", "timeline"].map((id) => [id, new CanvasArea(this.elements[id])]),
    );
    this.setTheme(this.theme);
    this.timeline = new Timeline(this, this.areas.timeline);
    this.setRows();
    this.fitRows();
    this.fillHeader();
    this.attach();
    buildLegend(this, this.elements.legend);
    fillRequest(this, this.elements.request);
    this.changed();
  }

  rebuildStates() {
    this.segments = new Segments(this.model, this.hidden);
    this.states = stateSeries(this.model, this.segments, Array.from({ length: this.model.rankCount }, (_, rank) => rank));
    this.refreshPainted();
  }

  refreshPainted() {
    const { model, segments, hidden, emphasis } = this;
    this.paintedSegments = { segments, kind: model.kind, emphasis };
    this.paintedLanes = { model, hidden, emphasis };
  }

  setTheme(theme) {
    this.theme = theme;
    document.documentElement.dataset.theme = theme;
    this.palette = makePalette(this.model.kinds, theme);
    this.timeline?.recolor();
    if (this.legendButtons) {
      updateLegend(this);
      fillRequest(this, this.elements.request);
    }
    this.elements.theme.textContent = theme === "dark" ? "Light" : "Dark";
  }

  setRows() {
    this.rows = sortRows(makeRows(this.model, this.grouping), this.counter);
    this.rowOfRank = new Int32Array(this.model.rankCount).fill(-1);
    this.rows.forEach((row, index) => row.ranks.forEach((rank) => (this.rowOfRank[rank] = index)));
    this.viewport.setRows(this.rows.length, this.areas.timeline.height - kAxisHeight);
    this.elements.empty.hidden = this.rows.length > 0;
  }

  // Rows as tall as fit on the screen, within what is useful.
  fitRows() {
    const useful = this.grouping === "node" ? 90 : this.model.maxLanes * 18 + 6;
    const fitting = Math.floor(this.viewport.height / Math.max(1, this.rows.length));
    this.viewport.rowHeight = Math.max(1, Math.min(useful, fitting));
    this.viewport.scrollTo(0);
  }

  showAll() {
    this.viewport.show(0, this.model.duration);
    this.fitRows();
  }

  // Asks for a redraw at the next frame.
  changed() {
    if (!this.pending) {
      this.pending = requestAnimationFrame(() => {
        this.pending = 0;
        this.draw();
      });
    }
  }

  draw() {
    const begin = performance.now();
    for (const area of Object.values(this.areas)) {
      area.fit();
    }
    this.viewport.setRows(this.rows.length, this.areas.timeline.height - kAxisHeight);
    drawOverview(this, this.areas.overview);
    drawStates(this, this.areas.states);
    drawBandwidth(this, this.areas.bandwidth);
    drawSizes(this, this.areas.sizes);
    this.timeline.draw();
    this.drawMs = performance.now() - begin;
    clearTimeout(this.summaryTimer);
    this.summaryTimer = setTimeout(() => this.summarize(), 60);
  }

  // Says in words what the charts show, for screen readers.
  summarize() {
    const { viewport, model } = this;
    const sums = this.states.columns(viewport.t0, viewport.t1, 1);
    const whole = viewport.span * model.rankCount;
    const shares = model.kinds
      .map((kind, index) => ({ name: kind.name, share: sums[index] / whole }))
      .filter(({ share }) => share >= 0.001)
      .sort((a, b) => b.share - a.share)
      .slice(0, 6)
      .map(({ name, share }) => `${name} ${format.percent(share)}`);
    this.elements.extent.textContent = this.extent();
    const moved = this.requests.bandwidth.columns(viewport.t0, viewport.t1, 1);
    const text = [
      `Showing ${format.moment(viewport.t0)} to ${format.moment(viewport.t1)} of ${format.moment(model.duration)},`,
      `${format.count(model.rankCount)} ranks, ${format.count(this.rows.length)} rows by ${this.grouping}.`,
      ...(this.extent() ? [`On the screen: ${this.extent()}.`] : []),
      `Time of the ranks: ${shares.join(", ") || "no span"}.`,
      `Read ${format.bytes(moved[0])}, written ${format.bytes(moved[1])}; at most ${format.rate(this.peakBandwidth, 1e9) || "0 MB/s"}.`,
    ].join(" ");
    this.elements.summary.textContent = text;
    this.elements.timeline.setAttribute("aria-label", `Timeline. ${text}`);
  }

  // Which rows are on the screen, where not all are.
  extent() {
    const { viewport } = this;
    const first = Math.floor(viewport.scroll / viewport.rowHeight) + 1;
    const last = Math.min(viewport.rowCount, Math.ceil((viewport.scroll + viewport.height) / viewport.rowHeight));
    const all = first === 1 && last === viewport.rowCount;
    return all ? "" : `rows ${format.count(first)} to ${format.count(last)} of ${format.count(viewport.rowCount)}; Shift and the wheel scroll`;
  }

  fillHeader() {
    const { header } = this.model;
    this.elements.program.textContent = header.program || "Trace";
    document.title = `${header.program || "trace"} – timeline`;
    const facts = [
      `${format.count(header.ranks)} ${header.ranks === 1 ? "rank" : "ranks"}`,
      `${format.count(header.nodes.length)} ${header.nodes.length === 1 ? "node" : "nodes"}`,
      format.time(header.duration_ns),
      `${format.count(header.events)} spans`,
      header.start,
    ];
    this.elements.facts.textContent = facts.filter(Boolean).join(" · ");
    this.elements.notices.replaceChildren(
      ...header.notices.map((notice) => {
        const line = document.createElement("p");
        line.textContent = notice;
        return line;
      }),
    );
    this.elements.notices.hidden = header.notices.length === 0;
    for (const [index, { name }] of this.counters.entries()) {
      this.elements.sort.add(new Option(name, String(index)));
    }
  }

  attach() {
    const { elements } = this;
    attachControls(this);
    elements.group.addEventListener("change", () => this.setGrouping(elements.group.value));
    elements.sort.addEventListener("change", () => {
      this.counter = elements.sort.value === "" ? null : this.counters[Number(elements.sort.value)];
      this.setRows();
      this.changed();
    });
    elements.theme.addEventListener("click", () => {
      this.setTheme(this.theme === "dark" ? "light" : "dark");
      this.changed();
    });
    elements.reset.addEventListener("click", () => {
      this.showAll();
      this.changed();
    });
    elements.keys.addEventListener("click", () => elements.help.showModal());
    elements.search.addEventListener("input", () => this.search(elements.search.value));
    elements.search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        this.nextMatch(event.shiftKey ? -1 : 1);
      } else if (event.key === "Escape") {
        elements.search.value = "";
        this.search("");
        elements.timeline.focus();
      }
    });
    new ResizeObserver(() => this.changed()).observe(elements.timeline);
    matchMedia("(resolution)").addEventListener?.("change", () => this.changed());
  }

  setGrouping(grouping) {
    this.grouping = grouping;
    this.setRows();
    this.fitRows();
    this.changed();
  }

  toggleKind(kind) {
    this.hidden[kind] ^= 1;
    this.rebuildStates();
    updateLegend(this);
    this.changed();
  }

  select(event, { show = false } = {}) {
    this.selection = event >= 0 ? follow(this.model, event) : null;
    this.updateEmphasis();
    fillRequest(this, this.elements.request);
    this.elements.chosen.textContent = event >= 0 ? `Chosen: ${heading(this.model, event)}, rank ${this.model.rank[event]}` : "";
    const { request, panel } = this.elements;
    if (event >= 0 && request.getBoundingClientRect().top > panel.getBoundingClientRect().top + panel.clientHeight * 0.6) {
      request.scrollIntoView({ block: "start" });
    }
    if (event >= 0 && show) {
      this.bringIntoView(event);
    }
    this.changed();
  }

  bringIntoView(event) {
    const { viewport, model } = this;
    if (model.end[event] < viewport.t0 || model.begin[event] > viewport.t1) {
      viewport.pan((model.begin[event] + model.end[event]) / 2 - (viewport.t0 + viewport.t1) / 2);
    }
    if (this.rowOfRank[model.rank[event]] >= 0) {
      viewport.showRow(this.rowOfRank[model.rank[event]]);
    }
  }

  zoomTo(event) {
    const length = this.model.end[event] - this.model.begin[event];
    this.viewport.show(this.model.begin[event] - length * 0.1, this.model.end[event] + length * 0.1);
    this.bringIntoView(event);
    this.changed();
  }

  // Chooses what the first row on the screen does at `time`.
  selectNear(time) {
    const row = this.rows[Math.max(0, this.viewport.rowAt(0))];
    if (row) {
      const tolerance = this.viewport.span / 2;
      this.select(this.timeline.eventIn(row.ranks[0], -1, time, tolerance));
    }
  }

  // The span before or behind the chosen one in its lane.
  step(direction) {
    if (!this.selection) {
      return;
    }
    const { model } = this;
    const { event } = this.selection;
    const lane = model.firstLane[model.rank[event]] + model.lane[event];
    const at = model.laneEvents.subarray(model.laneStart[lane], model.laneStart[lane + 1]).indexOf(event) + direction;
    if (at >= 0 && at < model.laneStart[lane + 1] - model.laneStart[lane]) {
      this.select(model.laneEvents[model.laneStart[lane] + at], { show: true });
    }
  }

  goUp() {
    const parent = this.selection ? this.model.parent[this.selection.event] : -1;
    if (parent >= 0) {
      this.select(parent, { show: true });
    }
  }

  goDown() {
    const children = this.selection ? this.model.children(this.selection.event) : [];
    if (children.length > 0) {
      this.select(children[0], { show: true });
    }
  }

  search(query) {
    const { found, error, matches } = { found: query.trim() !== "", ...(query.trim() ? search(this.model, query) : {}) };
    this.matches = found && matches ? matches : null;
    this.matchIndex = -1;
    this.elements.matches.textContent = error ?? (this.matches ? `${format.count(this.matches.length)} found` : "");
    this.updateEmphasis();
    this.changed();
  }

  nextMatch(direction) {
    if (!this.matches || this.matches.length === 0) {
      return;
    }
    const { length } = this.matches;
    this.matchIndex = this.matchIndex < 0 && direction < 0 ? length - 1 : (this.matchIndex + direction + length) % length;
    this.select(this.matches[this.matchIndex], { show: true });
    this.elements.matches.textContent = `${format.count(this.matchIndex + 1)} of ${format.count(length)}`;
  }

  // A followed request outshines a search.
  updateEmphasis() {
    this.emphasis = null;
    if (this.selection) {
      this.emphasis = this.selection.members;
    } else if (this.matches) {
      this.emphasis = new Uint8Array(this.model.count);
      for (const event of this.matches) {
        this.emphasis[event] = 1;
      }
    }
    this.refreshPainted();
  }
}

try {
  globalThis.stria = new App(takePayload(document));
  document.documentElement.dataset.ready = "true";
} catch (error) {
  document.getElementById("notices").hidden = false;
  document.getElementById("notices").textContent = `This page cannot be shown: ${error.message}`;
  throw error;
}
