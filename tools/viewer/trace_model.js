// The run in memory: events sorted by rank and begin, each in a lane in which nothing overlaps, and
// which event is whose child.
//
// A lane is a depth. A span lies in the lane below the deepest one that is still open when it
// begins, so that nested spans stand below each other. What is in flight while its rank does other
// things (messages, writes behind) lies in lanes below all of these. Within a lane, begins and ends
// both ascend, so bisection finds what is visible in a window.

const kMaxLanes = 32;

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
    this.rankStart = startsOf(this.rank, this.count, this.rankCount);
    this.assignLanes();
  }

  assignLanes() {
    const { rankCount } = this;
    this.inFlight = this.kinds.map((kind) => Boolean(kind.overlaps));
    this.lane = new Uint8Array(this.count);
    this.nestedLanes = new Uint8Array(rankCount);
    this.laneCount = new Uint8Array(rankCount);
    for (let rank = 0; rank < rankCount; ++rank) {
      this.nestedLanes[rank] = this.assignNested(rank);
      this.laneCount[rank] = this.assignInFlight(rank);
    }
    this.maxLanes = this.laneCount.reduce((a, b) => Math.max(a, b), 1);
    this.indexLanes();
  }

  assignNested(rank) {
    const { begin, end, kind, rankStart, inFlight } = this;
    const open = new Float64Array(kMaxLanes).fill(-1);
    let top = -1;
    let lanes = 0;
    for (let i = rankStart[rank]; i < rankStart[rank + 1]; ++i) {
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

  assignInFlight(rank) {
    const { begin, end, kind, rankStart, inFlight } = this;
    const open = new Float64Array(kMaxLanes).fill(-1);
    const first = Math.min(this.nestedLanes[rank], kMaxLanes - 1);
    let lanes = this.nestedLanes[rank];
    for (let i = rankStart[rank]; i < rankStart[rank + 1]; ++i) {
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

  // laneStart[firstLane[rank] + lane] … : where the lane's events are in laneEvents.
  indexLanes() {
    const { rankCount, count, rank, lane } = this;
    this.firstLane = new Uint32Array(rankCount + 1);
    for (let r = 0; r < rankCount; ++r) {
      this.firstLane[r + 1] = this.firstLane[r] + this.laneCount[r];
    }
    const total = this.firstLane[rankCount];
    this.laneStart = new Uint32Array(total + 1);
    for (let i = 0; i < count; ++i) {
      this.laneStart[this.firstLane[rank[i]] + lane[i] + 1]++;
    }
    for (let l = 0; l < total; ++l) {
      this.laneStart[l + 1] += this.laneStart[l];
    }
    const next = this.laneStart.slice(0, total);
    this.laneEvents = new Uint32Array(count);
    for (let i = 0; i < count; ++i) {
      this.laneEvents[next[this.firstLane[rank[i]] + lane[i]]++] = i;
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

function startsOf(rank, count, rankCount) {
  const starts = new Uint32Array(rankCount + 1);
  for (let i = 0; i < count; ++i) {
    starts[rank[i] + 1]++;
  }
  for (let r = 0; r < rankCount; ++r) {
    starts[r + 1] += starts[r];
  }
  return starts;
}
