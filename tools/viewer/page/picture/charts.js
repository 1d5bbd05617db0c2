// The charts above the timeline: the overview with its window, ranks in each state, bandwidth,
// request sizes.
import * as format from "../format.js";
import { kSizeClasses } from "../run/series.js";
import { kGutter } from "./canvas_area.js";
import { paintStack } from "./raster.js";
import { valuesOf } from "./tracks.js";

const kMarkHeight = 4;
const kLeastMark = 3;
const kLabelHeight = 13; // pixels between labels of an axis

function stack(app, area, { t0, t1, top, height }) {
  const rows = Math.round(height * area.scale);
  const words = area.pixels(rows);
  const sums = app.states.columns(t0, t1, area.deviceWidth);
  const [r, g, b] = app.palette.rowGround;
  words.fill(((255 << 24) | (b << 16) | (g << 8) | r) >>> 0);
  const full = ((t1 - t0) / area.deviceWidth) * app.model.rankCount;
  paintStack(words, area.deviceWidth, rows, sums, { colors: app.palette.packed, order: app.palette.order, full });
  area.put(top);
}

function axis(app, area, { top, height, labels }) {
  const { context } = area;
  context.strokeStyle = app.palette.line;
  context.lineWidth = 1;
  for (const { share, text } of labels) {
    const y = top + height * (1 - share);
    context.beginPath();
    context.moveTo(kGutter - 4, Math.round(y) + 0.5);
    context.lineTo(kGutter, Math.round(y) + 0.5);
    context.stroke();
    area.label(text, Math.min(top + height - 5, Math.max(top + 6, y)), app.palette.muted);
  }
}

// Draws a mark for each burst below the states, wide enough to be seen and clicked.
function markBursts(app, area) {
  const whole = { t0: 0, span: app.viewport.duration };
  area.context.fillStyle = app.palette.accent;
  for (const { begin, end } of app.bursts) {
    const left = area.xOf(begin, whole);
    const width = Math.max(kLeastMark, area.xOf(end, whole) - left);
    area.context.fillRect(Math.round(Math.min(left, area.width - width)), area.height - kMarkHeight, width, kMarkHeight);
  }
}

// The whole run, and the window as a bright part of it.
export function drawOverview(app, area) {
  const { context } = area;
  const { duration, t0, t1 } = app.viewport;
  const { canvas } = area;
  const { states, palette } = app;
  // The picture of the whole run is kept, because it stays the same while the window moves.
  const kept = area.kept;
  if (kept?.states !== states || kept.palette !== palette || kept.width !== canvas.width) {
    area.clear(palette.ground);
    stack(app, area, { t0: 0, t1: duration, top: 2, height: area.height - 4 - kMarkHeight });
    area.kept = { states, palette, width: canvas.width, picture: context.getImageData(0, 0, canvas.width, canvas.height) };
  }
  context.putImageData(area.kept.picture, 0, 0);
  const whole = { t0: 0, span: duration };
  const left = area.xOf(t0, whole);
  const right = Math.max(left + 2, area.xOf(t1, whole));
  context.fillStyle = app.palette.ground;
  context.globalAlpha = 0.55;
  context.fillRect(kGutter, 0, left - kGutter, area.height);
  context.fillRect(right, 0, area.width - right, area.height);
  context.globalAlpha = 1;
  markBursts(app, area);
  context.strokeStyle = app.palette.accent;
  context.lineWidth = 1.5;
  context.strokeRect(left + 0.75, 0.75, right - left - 1.5, area.height - 1.5);
  area.label("whole run", area.height / 2, app.palette.muted);
}

// Number of ranks in each state.
export function drawStates(app, area) {
  area.clear(app.palette.ground);
  const box = { t0: app.viewport.t0, t1: app.viewport.t1, top: 4, height: area.height - 8 };
  stack(app, area, box);
  const ranks = app.model.rankCount;
  axis(app, area, { ...box, labels: [{ share: 0, text: "0" }, { share: 1, text: `${format.count(ranks)} ${ranks === 1 ? "rank" : "ranks"}` }] });
}

function area2d(context, points, { color, base }) {
  context.beginPath();
  points.forEach(([x, y], i) => (i === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
  context.strokeStyle = color;
  context.lineWidth = 1.5;
  context.stroke();
  context.lineTo(points.at(-1)[0], base);
  context.lineTo(points[0][0], base);
  context.globalAlpha = 0.25;
  context.fillStyle = color;
  context.fill();
  context.globalAlpha = 1;
}

// The track that was chosen, from zero at the bottom to its peak in view.
export function drawTrack(app, area) {
  const track = app.tracks.find(({ id }) => id === app.elements.track.value);
  for (const key of document.querySelectorAll("#tracks .key")) {
    key.hidden = Boolean(track);
  }
  if (!track) {
    drawBandwidth(app, area);
    return;
  }
  area.clear(app.palette.ground);
  const columns = Math.max(1, Math.floor(area.plotWidth / 2));
  const values = valuesOf(app, track, columns);
  const most = values.reduce((a, b) => Math.max(a, b), 0);
  const [top, base] = [6, area.height - 4];
  const full = most > 0 ? most * 1.05 : 1;
  const color = track.kind === undefined ? app.palette[track.color ?? "write"] : app.palette.css[track.kind];
  const points = [...values].map((value, x) => [kGutter + ((x + 0.5) / columns) * area.plotWidth, base - (value / full) * (base - top)]);
  area2d(area.context, points, { color, base });
  axis(app, area, { top, height: base - top, labels: [{ share: 0, text: "0" }, { share: 1 / 1.05, text: most > 0 ? track.unit(most) : "none" }] });
}

// Bytes per second, written and read, as the storage moved them.
function drawBandwidth(app, area) {
  const { t0, t1, span } = app.viewport;
  const { context } = area;
  area.clear(app.palette.ground);
  const columns = Math.max(1, Math.floor(area.plotWidth / 2));
  const sums = app.requests.bandwidth.columns(t0, t1, columns);
  const perSecond = 1e9 / (span / columns);
  let most = 0;
  for (const sum of sums) {
    most = Math.max(most, sum * perSecond);
  }
  const top = 6;
  const base = area.height - 4;
  const full = most > 0 ? most * 1.05 : 1;
  for (const [channel, color] of [[0, app.palette.read], [1, app.palette.write]]) {
    const points = [];
    let any = false;
    for (let column = 0; column < columns; ++column) {
      const value = sums[column * 2 + channel] * perSecond;
      any ||= value > 0;
      points.push([kGutter + ((column + 0.5) / columns) * area.plotWidth, base - (value / full) * (base - top)]);
    }
    if (any) {
      area2d(context, points, { color, base });
    }
  }
  const labels = [{ share: 0, text: "0" }, { share: 1 / 1.05, text: most > 0 ? format.rate(most, 1e9) : "no data moved" }];
  axis(app, area, { top, height: base - top, labels });
}

// Requests by size over time: darker where there are more; the line is the mean size.
export function drawSizes(app, area) {
  const { t0, t1 } = app.viewport;
  const { context } = area;
  area.clear(app.palette.ground);
  const columns = Math.max(1, Math.floor(area.plotWidth / 4));
  const sums = app.requests.sizes.columns(t0, t1, columns);
  const totals = app.requests.sizes.totals();
  const used = [...totals.keys()].filter((size) => totals[size] > 0);
  if (used.length === 0) {
    area.label("no requests", area.height / 2, app.palette.muted);
    return;
  }
  const low = Math.max(0, used[0] - 1);
  const high = Math.min(kSizeClasses, used.at(-1) + 2);
  const top = 4;
  const height = area.height - 8;
  const cell = height / (high - low);
  const most = sums.reduce((a, b) => Math.max(a, b), 0);
  context.fillStyle = app.palette.write;
  for (let column = 0; column < columns; ++column) {
    for (let size = low; size < high; ++size) {
      const sum = sums[column * kSizeClasses + size];
      if (sum > 1e-9) {
        context.globalAlpha = 0.25 + 0.75 * Math.min(1, Math.log1p(sum) / Math.log1p(most));
        context.fillRect(kGutter + (column / columns) * area.plotWidth, top + (high - 1 - size) * cell, area.plotWidth / columns, Math.max(1.5, cell - 0.5));
      }
    }
  }
  context.globalAlpha = 1;
  const step = [1, 2, 5, 10, 20].find((s) => s * cell >= kLabelHeight) ?? 20;
  const labels = [];
  for (let size = Math.ceil(low / step) * step; size <= high; size += step) {
    const y = height * ((high - size) / (high - low));
    if (y >= kLabelHeight / 2 && y <= height - kLabelHeight / 2) {
      labels.push({ share: (size - low) / (high - low), text: format.bytes(2 ** size) });
    }
  }
  axis(app, area, { top, height, labels });
}
