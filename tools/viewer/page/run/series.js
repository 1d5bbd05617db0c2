// The sums over time: ranks in each state, bytes moved, requests by size.
import { Pyramid } from "./pyramid.js";

// Sums over these strands. The channels are the kinds; sums are nanoseconds of strands in the
// state.
export function stateSeries(model, segments, strands, buckets) {
  const span = { begin: 0, end: 0, channel: 0, density: 1 };
  const { kind, duration, kinds } = model;
  const source = (t0, t1, add) => {
    for (const strand of strands) {
      const last = segments.strandStart[strand + 1];
      for (let s = segments.find(strand, t0); s < last && segments.start[s] < t1; ++s) {
        const event = segments.event[s];
        if (event >= 0) {
          span.begin = segments.start[s];
          span.end = segments.endOf(s, strand);
          span.channel = kind[event];
          add(span);
        }
      }
    }
  };
  return new Pyramid({ duration, channels: kinds.length, source, buckets });
}

// Returns, for all ranks, nanoseconds of spans in flight, by kind.
export function flightSeries(model) {
  const span = { begin: 0, end: 0, channel: 0, density: 1 };
  const { kind, begin, end, duration, kinds, inFlight } = model;
  const events = Uint32Array.from({ length: model.count }, (_, event) => event).filter((event) => inFlight[kind[event]]);
  const source = (t0, t1, add) => {
    for (const event of events) {
      if (begin[event] < t1 && end[event] > t0) {
        span.begin = begin[event];
        span.end = end[event];
        span.channel = kind[event];
        add(span);
      }
    }
  };
  return new Pyramid({ duration, channels: kinds.length, source, buckets: 4096 });
}

export const kSizeClasses = 48; // powers of two, 1 B to 128 TiB

// The storage requests that move bytes, in order of begin.
class Requests {
  constructor(model) {
    const { kinds, kind, begin, end } = model;
    const moves = kinds.map((k) => k.moves === "read" || k.moves === "write");
    const bytes = model.columns.bytes;
    const list = [];
    this.longest = 0;
    for (let i = 0; i < model.count; ++i) {
      if (moves[kind[i]] && bytes[i] > 0) {
        list.push(i);
        this.longest = Math.max(this.longest, end[i] - begin[i]);
      }
    }
    this.events = Uint32Array.from(list).sort((a, b) => begin[a] - begin[b]);
    this.model = model;
  }

  each(t0, t1, visit) {
    const { begin, end } = this.model;
    let low = 0;
    let high = this.events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (begin[this.events[middle]] < t0 - this.longest) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    for (let p = low; p < this.events.length && begin[this.events[p]] < t1; ++p) {
      if (end[this.events[p]] >= t0) {
        visit(this.events[p]);
      }
    }
  }
}

// Bytes read (channel 0) and written (channel 1), spread evenly over each request; and requests
// by size class.
export function requestSeries(model) {
  const requests = new Requests(model);
  const { begin, end, kind, kinds, duration } = model;
  const bytes = model.columns.bytes;
  const span = { begin: 0, end: 0, channel: 0, density: 0 };
  const addBytes = (t0, t1, add) =>
    requests.each(t0, t1, (event) => {
      span.begin = begin[event];
      span.end = Math.max(end[event], span.begin + 1);
      span.channel = kinds[kind[event]].moves === "read" ? 0 : 1;
      span.density = bytes[event] / (span.end - span.begin);
      add(span);
    });
  const addSize = (t0, t1, add) =>
    requests.each(t0, t1, (event) => {
      span.begin = begin[event];
      span.end = span.begin + 1;
      span.channel = Math.min(kSizeClasses - 1, Math.floor(Math.log2(bytes[event])));
      span.density = 1;
      add(span);
    });
  const bandwidth = new Pyramid({ duration, channels: 2, source: addBytes });
  const sizes = new Pyramid({ duration, channels: kSizeClasses, source: addSize });
  return { bandwidth, sizes, requestCount: requests.events.length };
}
