// The run in memory: events sorted by strand and begin, each in a lane in which nothing overlaps,
// and which event is whose child.
//
// A strand is what one rank does, or what one of its threads does in the background. A rank's own
// strand comes before those of its background.
//
// A lane is a depth. A span lies in the lane below the deepest one that is still open when it
// begins, so that nested spans stand below each other. What is in flight while its strand does
// other things (messages, writes behind) lies in lanes below all of these. Within a lane, begins
// and ends both ascend, so bisection finds what is visible in a window.

import { tieBackground } from "./background.js";

const kMaxLanes = 32;
const kThreads = 65536; // more than a rank has

export class TraceModel {
  constructor({ header, columns }) {
    this.header = header;
    this.count = header.events;
    this.rankCount = header.ranks;
    this.duration = Math.max(1, header.duration_ns);
    this.kinds = header.kinds;
    this.columns = columns;
    this.begin = columns.begin;
    this.kind = columns.kind;
    this.rank = columns.rank;
    this.parent = columns.parent;
    this.end = new Float64Array(this.count);
    for (let i = 0; i < this.count; ++i) {
      this.end[i] = this.begin[i] + columns.duration[i];
    }
    this.findStrands();
    this.strandStart = startsOf(this.strand, this.count, this.strandCount);
    this.assignLanes();
    this.ties = tieBackground(this);
  }

  // strands: [{rank, background}]; ownStrand: that of each rank; strand: that of each event.
  findStrands() {
    const { rankCount, count, rank } = this;
    const { thread } = this.columns;
    const { background } = this.header; // pairs of rank and thread, in order
    let at = 0;
    const numbers = new Map(); // by rank and background thread
    this.strands = [];
    this.ownStrand = new Uint32Array(rankCount);
    for (let r = 0; r < rankCount; ++r) {
      this.ownStrand[r] = this.strands.push({ rank: r, background: false }) - 1;
      for (; background[at]?.[0] === r; ++at) {
        numbers.set(r * kThreads + background[at][1], this.strands.push({ rank: r, background: true }) - 1);
      }
    }
    this.strandCount = this.strands.length;
    this.strand = new Uint32Array(count);
    for (let i = 0; i < count; ++i) {
      const own = this.ownStrand[rank[i]];
      this.strand[i] = numbers.size > 0 ? (numbers.get(rank[i] * kThreads + thread[i]) ?? own) : own;
    }
  }

  // The strands of a rank, its own first.
  strandsOf(rank) {
    const strands = [this.ownStrand[rank]];
    while (this.strands[strands.at(-1) + 1]?.rank === rank) {
      strands.push(strands.at(-1) + 1);
    }
    return strands;
  }

  backgroundStrands() {
    return [...this.strands.keys()].filter((strand) => this.strands[strand].background);
  }

  assignLanes() {
    const { strandCount } = this;
    this.inFlight = this.kinds.map((kind) => Boolean(kind.overlaps));
    this.lane = new Uint8Array(this.count);
    this.nestedLanes = new Uint8Array(strandCount);
    this.laneCount = new Uint8Array(strandCount);
    for (let strand = 0; strand < strandCount; ++strand) {
      this.nestedLanes[strand] = this.assignNested(strand);
      this.laneCount[strand] = this.assignInFlight(strand);
    }
    this.maxLanes = this.laneCount.reduce((a, b) => Math.max(a, b), 1);
    this.indexLanes();
  }

  assignNested(strand) {
    const { begin, end, kind, strandStart, inFlight } = this;
    const open = new Float64Array(kMaxLanes).fill(-1);
    let top = -1;
    let lanes = 0;
    for (let i = strandStart[strand]; i < strandStart[strand + 1]; ++i) {
      if (inFlight[kind[i]]) {
        continue;
      }
      while (top >= 0 && open[top] <= begin[i]) {
        --top;
      }
      top = Math.min(top + 1, kMaxLanes - 1);
      open[top] = end[i];
      this.lane[i] = top;
      lanes = Math.max(lanes, top + 1);
    }
    return lanes;
  }

  assignInFlight(strand) {
    const { begin, end, kind, strandStart, inFlight } = this;
    const open = new Float64Array(kMaxLanes).fill(-1);
    const first = Math.min(this.nestedLanes[strand], kMaxLanes - 1);
    let lanes = this.nestedLanes[strand];
    for (let i = strandStart[strand]; i < strandStart[strand + 1]; ++i) {
      if (!inFlight[kind[i]]) {
        continue;
      }
      let lane = first;
      while (lane < kMaxLanes - 1 && open[lane] > begin[i]) {
        ++lane;
      }
      open[lane] = end[i];
      this.lane[i] = lane;
      lanes = Math.max(lanes, lane + 1);
    }
    return lanes;
  }

  // laneStart[firstLane[strand] + lane] … : where the lane's events are in laneEvents.
  indexLanes() {
    const { strandCount, count, strand, lane } = this;
    this.firstLane = new Uint32Array(strandCount + 1);
    for (let s = 0; s < strandCount; ++s) {
      this.firstLane[s + 1] = this.firstLane[s] + this.laneCount[s];
    }
    const total = this.firstLane[strandCount];
    this.laneStart = new Uint32Array(total + 1);
    for (let i = 0; i < count; ++i) {
      this.laneStart[this.firstLane[strand[i]] + lane[i] + 1]++;
    }
    for (let l = 0; l < total; ++l) {
      this.laneStart[l + 1] += this.laneStart[l];
    }
    const next = this.laneStart.slice(0, total);
    this.laneEvents = new Uint32Array(count);
    for (let i = 0; i < count; ++i) {
      this.laneEvents[next[this.firstLane[strand[i]] + lane[i]]++] = i;
    }
  }

  // The first position in laneEvents of that lane whose event ends after `time`; the lane's end
  // when there is none.
  firstVisible(lane, time) {
    let low = this.laneStart[lane];
    let high = this.laneStart[lane + 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.end[this.laneEvents[middle]] > time) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  // The event of a lane at `time`, or one within `tolerance` of it; -1 when there is none.
  eventAt(lane, time, tolerance) {
    const position = this.firstVisible(lane, time - tolerance);
    let best = -1;
    for (let p = position; p < this.laneStart[lane + 1]; ++p) {
      const event = this.laneEvents[p];
      if (this.begin[event] > time + tolerance) {
        break;
      }
      best = event;
      if (this.end[event] >= time) {
        break;
      }
    }
    return best;
  }

  // The children of an event, in order of begin.
  children(event) {
    if (!this.childStart) {
      this.indexChildren();
    }
    return this.childList.subarray(this.childStart[event], this.childStart[event + 1]);
  }

  indexChildren() {
    const { parent, count } = this;
    this.childStart = new Uint32Array(count + 1);
    for (let i = 0; i < count; ++i) {
      if (parent[i] >= 0) {
        this.childStart[parent[i] + 1]++;
      }
    }
    for (let i = 0; i < count; ++i) {
      this.childStart[i + 1] += this.childStart[i];
    }
    const next = this.childStart.slice(0, count);
    this.childList = new Uint32Array(this.childStart[count]);
    for (let i = 0; i < count; ++i) {
      if (parent[i] >= 0) {
        this.childList[next[parent[i]]++] = i;
      }
    }
  }

  // What brought an event about: the span around it, or in the background its commit; -1 for none.
  causeOf(event) {
    return this.parent[event] >= 0 ? this.parent[event] : (this.ties.commitOf.get(event) ?? -1);
  }

  // What a commit left to the background.
  leftBy(commit) {
    return this.ties.leftBy.get(commit) ?? [];
  }

  kindName(event) {
    return this.kinds[this.kind[event]].name;
  }

  level(event) {
    return this.kinds[this.kind[event]].level;
  }

  // A name from one of the header's tables, or "" when the event has none.
  named(table, column, event) {
    const index = this.columns[column][event];
    return index < 0 ? "" : (this.header[table][index] ?? "");
  }

  node(rank) {
    return this.header.nodes[this.header.rank_nodes[rank]] ?? "";
  }
}

function startsOf(strand, count, strandCount) {
  const starts = new Uint32Array(strandCount + 1);
  for (let i = 0; i < count; ++i) {
    starts[strand[i] + 1]++;
  }
  for (let s = 0; s < strandCount; ++s) {
    starts[s + 1] += starts[s];
  }
  return starts;
}
