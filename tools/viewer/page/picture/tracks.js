// Counter tracks: what the second chart can show besides the bandwidth.
import * as format from "../format.js";
import { kWaits } from "../run/profile.js";
import { Pyramid } from "../run/pyramid.js";

const kBuckets = 8192;

// A pyramid of one channel over the events for which `amount` is above 0; the amount is spread
// evenly over each.
function seriesOf(model, amount) {
  const span = { begin: 0, end: 0, channel: 0, density: 0 };
  const events = [];
  for (let event = 0; event < model.count; ++event) {
    if (amount(event) > 0) {
      events.push(event);
    }
  }
  const source = (t0, t1, add) => {
    for (const event of events) {
      if (model.begin[event] < t1 && model.end[event] >= t0) {
        span.begin = model.begin[event];
        span.end = Math.max(model.end[event], span.begin + 1);
        span.density = amount(event) / (span.end - span.begin);
        add(span);
      }
    }
  };
  return new Pyramid({ duration: model.duration, channels: 1, source, buckets: kBuckets });
}

const number = (value) => (value >= 100 ? format.count(value) : format.digits(value));
const perSecond = (value) => `${number(value)} / s`;

// [{id, name, color, unit: text of a value, scale: of a sum per nanosecond, series()}]; those of
// states are made last.
export function makeTracks(app) {
  const { model } = app;
  const { kinds, kind, begin, end } = model;
  const { bytes } = model.columns;
  const moves = (event) => kinds[kind[event]].moves !== "" && bytes[event] > 0;
  const length = (event) => Math.max(1, end[event] - begin[event]);
  const sends = (event) => kinds[kind[event]].name === "send";
  const tracks = [
    { id: "under-way", name: "Requests under way", color: "write", unit: number, scale: 1, amount: (e) => (moves(e) ? length(e) : 0) },
    { id: "requests", name: "Requests per second", color: "write", unit: perSecond, scale: 1e9, amount: (e) => (moves(e) ? 1 : 0) },
    { id: "messages", name: "Bytes sent in messages", color: "message", unit: (v) => format.rate(v, 1e9), scale: 1e9, amount: (e) => (sends(e) ? Math.max(0, bytes[e]) : 0) },
  ];
  const waits = kinds.flatMap((k, index) => (kWaits.includes(k.name) ? [index] : []));
  tracks.push({ id: "waiting", name: "Ranks waiting for others", color: "wait", unit: number, scale: 1, channels: () => waits });
  kinds.forEach((k, index) => {
    if (k.occurs && !k.overlaps) {
      tracks.push({ id: `state:${k.name}`, name: `Ranks in ${k.name}`, kind: index, unit: number, scale: 1, channels: () => [index] });
    }
  });
  return tracks;
}

// The values of a track for `count` columns of the window.
export function valuesOf(app, track, count) {
  const { t0, t1, span } = app.viewport;
  const perColumn = (track.scale * count) / span;
  if (track.channels) {
    const { channels } = app.states;
    const [states, backgrounds] = [app.states, app.backgrounds].map((series) => series.columns(t0, t1, count));
    const at = (x, c) => states[x * channels + c] + backgrounds[x * channels + c];
    return Float64Array.from({ length: count }, (_, x) => track.channels().reduce((sum, c) => sum + at(x, c), 0) * perColumn);
  }
  track.series ??= seriesOf(app.model, track.amount);
  return track.series.columns(t0, t1, count).map((sum) => sum * perColumn);
}

export function fillTracks(app, select) {
  app.tracks = makeTracks(app);
  for (const { id, name } of app.tracks) {
    select.add(new Option(name, id));
  }
}
