// The choice of a span and its request, by mouse, keyboard or search. These are methods of
// the page's App.
import { fillRequest, heading } from "../beside/details.js";
import * as format from "../format.js";
import { follow } from "../run/follow.js";
import { search } from "../run/search.js";

const kAround = 0.1; // a share of a span, on both sides of it when the page zooms to it
const kAroundMatch = 2; // the same for a match, whose surroundings explain it

export const selecting = {
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
  },

  bringIntoView(event) {
    const { viewport, model } = this;
    if (model.end[event] < viewport.t0 || model.begin[event] > viewport.t1) {
      viewport.pan((model.begin[event] + model.end[event]) / 2 - (viewport.t0 + viewport.t1) / 2);
    }
    if (this.rowOfStrand[model.strand[event]] >= 0) {
      viewport.showRow(this.rowOfStrand[model.strand[event]]);
    }
  },

  zoomTo(event, around = kAround) {
    const length = this.model.end[event] - this.model.begin[event];
    this.viewport.show(this.model.begin[event] - length * around, this.model.end[event] + length * around);
    this.bringIntoView(event);
    this.changed();
  },

  // Chooses what the first row on the screen does at `time`.
  selectNear(time) {
    const row = this.rows[Math.max(0, this.viewport.rowAt(0))];
    if (row) {
      const tolerance = this.viewport.span / 2;
      this.select(this.timeline.eventIn(row.strands[0], -1, time, tolerance));
    }
  },

  // The span before or behind the chosen one in its lane.
  step(direction) {
    if (!this.selection) {
      return;
    }
    const { model } = this;
    const { event } = this.selection;
    const lane = model.firstLane[model.strand[event]] + model.lane[event];
    const at = model.laneEvents.subarray(model.laneStart[lane], model.laneStart[lane + 1]).indexOf(event) + direction;
    if (at >= 0 && at < model.laneStart[lane + 1] - model.laneStart[lane]) {
      this.select(model.laneEvents[model.laneStart[lane] + at], { show: true });
    }
  },

  goUp() {
    const cause = this.selection ? this.model.causeOf(this.selection.event) : -1;
    if (cause >= 0) {
      this.select(cause, { show: true });
    }
  },

  goDown() {
    const children = this.selection ? this.model.children(this.selection.event) : [];
    if (children.length > 0) {
      this.select(children[0], { show: true });
    }
  },

  search(query) {
    const { found, error, matches } = { found: query.trim() !== "", ...(query.trim() ? search(this.model, query) : {}) };
    this.matches = found && matches ? matches : null;
    this.matchIndex = -1;
    this.elements.found.textContent = error ?? (this.matches ? `${format.count(this.matches.length)} found` : "");
    this.updateEmphasis();
    this.changed();
  },

  // Chooses the next match and zooms to it.
  nextMatch(direction) {
    if (!this.matches || this.matches.length === 0) {
      return;
    }
    const { length } = this.matches;
    this.matchIndex = this.matchIndex < 0 && direction < 0 ? length - 1 : (this.matchIndex + direction + length) % length;
    this.select(this.matches[this.matchIndex]);
    this.zoomTo(this.matches[this.matchIndex], kAroundMatch);
    this.elements.found.textContent = `${format.count(this.matchIndex + 1)} of ${format.count(length)}`;
  },

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
  },
};
