// The page: it holds the run, what is shown of it, and what is chosen. It redraws once per frame
// when any of these changes.
import { fillRequest } from "./beside/details.js";
import { buildLegend, updateLegend } from "./beside/legend.js";
import { attachPanel, updatePanel } from "./beside/panel.js";
import { attachControls } from "./handling/controls.js";
import { copyLink, keepLink, takeView } from "./handling/link.js";
import { savePicture } from "./handling/saving.js";
import { selecting } from "./handling/selecting.js";
import { attachSibling, tellSibling } from "./handling/sibling.js";
import { telling } from "./handling/telling.js";
import { CanvasArea } from "./picture/canvas_area.js";
import { drawOverview, drawSizes, drawStates, drawTrack } from "./picture/charts.js";
import { drawOverlays } from "./picture/overlays.js";
import { makePalette } from "./picture/palette.js";
import { kAxisHeight, Timeline } from "./picture/timeline.js";
import { fillTracks } from "./picture/tracks.js";
import { kMaxRowHeight, Viewport } from "./picture/viewport.js";
import { findBursts, firstBurst, nextBurst, showBurst } from "./run/bursts.js";
import { takePayload } from "./run/columns.js";
import { makeCounters, makeRows, sortRows } from "./run/rows.js";
import { Segments } from "./run/segments.js";
import { flightSeries, requestSeries, stateSeries } from "./run/series.js";
import { TraceModel } from "./run/trace_model.js";

// Lower rows are not rounded to pixels, because their many remainders would leave the bottom of
// the screen empty.
const kLeastWhole = 32;

class App {
  constructor(payload) {
    this.model = new TraceModel(payload);
    this.viewport = new Viewport(this.model.duration);
    this.hidden = new Uint8Array(this.model.kinds.length);
    this.kindCounts = new Uint32Array(this.model.kinds.length);
    for (const kind of this.model.kind) {
      this.kindCounts[kind]++;
    }
    this.model.kinds.forEach((kind, index) => (kind.occurs = this.kindCounts[index] > 0));
    this.selection = null;
    this.matches = null;
    this.emphasis = null;
    this.counter = null;
    this.grouping = "rank";
    this.interval = null; // {t0, t1} that was dragged
    this.marks = []; // [{time, name}] in order of time
    this.showArrows = false;
    this.pointerTime = null;
    this.elements = Object.fromEntries([...document.querySelectorAll("[id]")].map((element) => [element.id, element]));
    this.tip = this.elements.tip;
    this.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    this.requests = requestSeries(this.model);
    this.flights = flightSeries(this.model);
    this.rebuildStates();
    this.bursts = findBursts(this.model, this.states);
    const burst = firstBurst(this.model, this.bursts);
    if (burst) {
      showBurst(this.viewport, burst);
    }
    this.counters = makeCounters(this.model, this.segments);
    this.areas = Object.fromEntries(
      ["overview", "states", "bandwidth", "sizes", "timeline"].map((id) => [id, new CanvasArea(this.elements[id])]),
    );
    this.setTheme(this.theme);
    this.timeline = new Timeline(this, this.areas.timeline);
    this.fillHeader();
    this.setRows();
    this.attach();
    buildLegend(this, this.elements.legend);
    fillTracks(this, this.elements.track);
    fillRequest(this, this.elements.request);
    attachPanel(this);
    attachSibling(this);
    takeView(this, location.hash);
    this.changed();
  }

  rebuildStates() {
    this.segments = new Segments(this.model, this.hidden);
    this.states = stateSeries(this.model, this.segments, this.model.ownStrand);
    this.backgrounds = stateSeries(this.model, this.segments, this.model.backgroundStrands());
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
    this.rowOfStrand = new Int32Array(this.model.strandCount).fill(-1);
    this.rows.forEach((row, index) => row.strands.forEach((strand) => (this.rowOfStrand[strand] = index)));
    this.viewport.setRows(this.rows.length, this.areas.timeline.height - kAxisHeight);
    this.elements.empty.hidden = this.rows.length > 0;
  }

  // Rows that fill the screen.
  fitRows() {
    const fitting = this.viewport.height / Math.max(1, this.rows.length);
    const even = fitting < kLeastWhole ? fitting : Math.floor(fitting);
    this.viewport.rowHeight = Math.max(1, Math.min(kMaxRowHeight, even));
    this.viewport.scrollTo(0);
    this.fitted = { height: this.viewport.height, rowHeight: this.viewport.rowHeight };
  }

  // When the screen's height changes, rows that filled it fill it again.
  refitRows() {
    const { viewport, fitted } = this;
    viewport.setRows(this.rows.length, this.areas.timeline.height - kAxisHeight);
    if (!fitted || (fitted.height !== viewport.height && fitted.rowHeight === viewport.rowHeight)) {
      this.fitRows();
    }
  }

  goToBurst(direction) {
    if (this.bursts.length > 0) {
      showBurst(this.viewport, nextBurst(this.viewport, this.bursts, direction));
      this.changed();
    }
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
    this.refitRows();
    drawOverview(this, this.areas.overview);
    drawStates(this, this.areas.states);
    drawTrack(this, this.areas.bandwidth);
    drawSizes(this, this.areas.sizes);
    this.timeline.draw();
    for (const id of ["states", "bandwidth", "sizes", "timeline"]) {
      drawOverlays(this, this.areas[id], { labels: id === "timeline" });
    }
    tellSibling(this);
    this.drawMs = performance.now() - begin;
    clearTimeout(this.summaryTimer);
    this.summaryTimer = setTimeout(() => {
      this.summarize();
      updatePanel(this);
      keepLink(this);
    }, 60);
  }

  attach() {
    const { elements } = this;
    attachControls(this);
    elements.group.addEventListener("change", () => this.setGrouping(elements.group.value));
    elements.sort.addEventListener("change", () => this.sortBy(elements.sort.value === "" ? -1 : Number(elements.sort.value)));
    elements.track.addEventListener("change", () => this.changed());
    elements.arrows.addEventListener("change", () => this.setArrows(elements.arrows.checked));
    elements.link.addEventListener("click", () => copyLink(this, elements.link));
    elements.save.addEventListener("click", () => savePicture(this));
    addEventListener("hashchange", () => takeView(this, location.hash));
    elements.theme.addEventListener("click", () => {
      this.setTheme(this.theme === "dark" ? "light" : "dark");
      this.changed();
    });
    elements.reset.addEventListener("click", () => {
      this.showAll();
      this.changed();
    });
    elements.earlier.addEventListener("click", () => this.goToBurst(-1));
    elements.later.addEventListener("click", () => this.goToBurst(1));
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

  sortBy(counter) {
    this.counter = counter < 0 ? null : this.counters[counter];
    this.setRows();
    this.changed();
  }

  setArrows(shown) {
    this.showArrows = shown;
    this.elements.arrows.checked = shown;
    this.changed();
  }

  setInterval(t0, t1) {
    this.interval = t1 > t0 ? { t0: Math.max(0, t0), t1: Math.min(this.model.duration, t1) } : null;
    this.changed();
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
}
Object.assign(App.prototype, selecting, telling);

try {
  globalThis.stria = new App(takePayload(document));
  document.documentElement.dataset.ready = "true";
} catch (error) {
  document.getElementById("notices").hidden = false;
  document.getElementById("notices").textContent = `This page cannot be shown: ${error.message}`;
  throw error;
}
