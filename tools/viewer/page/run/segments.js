// What every strand is doing at any time: the innermost open span, as one list of changes each.
// What is in flight meanwhile is a state only where the strand does nothing else.
//
// With n spans a strand has at most 2 n + 1 changes. The counts of ranks in each state, the thin
// rows of the timeline and the shares in the legend all come from here. Spans of hidden kinds are
// left out, so that the spans around them show.

export const kIdle = -1;

export class Segments {
  constructor(model, hidden) {
    this.model = model;
    this.start = new Float64Array(2 * model.count + model.strandCount + 1);
    this.event = new Int32Array(2 * model.count + model.strandCount + 1);
    this.strandStart = new Uint32Array(model.strandCount + 1);
    this.size = 0;
    this.open = new Int32Array(32).fill(-1);
    for (let strand = 0; strand < model.strandCount; ++strand) {
      this.strandStart[strand] = this.size;
      this.addStrand(strand, hidden);
    }
    this.strandStart[model.strandCount] = this.size;
    this.start[this.size] = model.duration;
  }

  addStrand(strand, hidden) {
    const { begin, kind, lane, nestedLanes, strandStart } = this.model;
    const first = this.size;
    this.nested = nestedLanes[strand];
    this.deepest = -1; // lane of an open span
    this.push(first, 0, kIdle);
    for (let i = strandStart[strand]; i < strandStart[strand + 1]; ++i) {
      if (hidden[kind[i]]) {
        continue;
      }
      this.closeUntil(first, begin[i]);
      this.open[lane[i]] = i;
      this.deepest = Math.max(this.deepest, lane[i]);
      this.push(first, begin[i], this.state());
    }
    this.closeUntil(first, Infinity);
  }

  state() {
    for (let l = Math.min(this.deepest, this.nested - 1); l >= 0; --l) {
      if (this.open[l] >= 0) {
        return this.open[l];
      }
    }
    return this.deepest < 0 ? kIdle : this.open[this.deepest];
  }

  // Closes the open spans that end by `time`, in order of their ends.
  closeUntil(first, time) {
    const { open } = this;
    const { end } = this.model;
    while (this.deepest >= 0) {
      let earliest = -1;
      for (let l = this.deepest; l >= 0; --l) {
        if (open[l] >= 0 && end[open[l]] <= time && (earliest < 0 || end[open[l]] < end[open[earliest]])) {
          earliest = l;
        }
      }
      if (earliest < 0) {
        return;
      }
      const at = end[open[earliest]];
      open[earliest] = -1;
      while (this.deepest >= 0 && open[this.deepest] < 0) {
        --this.deepest;
      }
      this.push(first, at, this.state());
    }
  }

  push(first, time, event) {
    if (this.size > first && this.start[this.size - 1] >= time) {
      this.event[this.size - 1] = event;
    } else if (this.size === first || this.event[this.size - 1] !== event) {
      this.start[this.size] = time;
      this.event[this.size++] = event;
    }
  }

  // When a segment ends: at the strand's next one, or with the run.
  endOf(segment, strand) {
    return segment + 1 < this.strandStart[strand + 1] ? this.start[segment + 1] : this.model.duration;
  }

  // The segment of a strand that holds `time`.
  find(strand, time) {
    let low = this.strandStart[strand];
    let high = this.strandStart[strand + 1];
    while (low + 1 < high) {
      const middle = (low + high) >> 1;
      if (this.start[middle] <= time) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }

  // Calls visit(event, begin, end) for each segment of a strand that meets [t0, t1).
  each(strand, t0, t1, visit) {
    const last = this.strandStart[strand + 1];
    for (let s = this.find(strand, t0); s < last && this.start[s] < t1; ++s) {
      visit(this.event[s], this.start[s], this.endOf(s, strand));
    }
  }
}
