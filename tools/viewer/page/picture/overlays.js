// What lies over all charts: the dragged interval, and marks.
import * as format from "../format.js";
import { kGutter } from "./canvas_area.js";

export function drawOverlays(app, area, { labels = false } = {}) {
  const { context } = area;
  const { viewport, palette, interval, marks } = app;
  context.save();
  context.beginPath();
  context.rect(kGutter, 0, area.plotWidth, area.height);
  context.clip();
  if (interval) {
    const left = area.xOf(interval.t0, viewport);
    const right = area.xOf(interval.t1, viewport);
    context.fillStyle = palette.accent;
    context.globalAlpha = 0.1;
    context.fillRect(left, 0, right - left, area.height);
    context.globalAlpha = 1;
    context.fillRect(left, 0, 1, area.height);
    context.fillRect(right, 0, 1, area.height);
    if (labels) {
      flag(area, palette, left + 3, format.time(interval.t1 - interval.t0));
    }
  }
  context.strokeStyle = palette.accent;
  context.setLineDash([4, 3]);
  for (const { time, name } of marks) {
    const x = Math.round(area.xOf(time, viewport)) + 0.5;
    context.beginPath();
    context.moveTo(x, 0);
    context.lineTo(x, area.height);
    context.stroke();
    if (labels) {
      flag(area, palette, x + 2, name);
    }
  }
  context.restore();
}

function flag({ context, height }, palette, x, text) {
  const width = context.measureText(text).width + 8;
  context.globalAlpha = 0.92;
  context.fillStyle = palette.accent;
  context.fillRect(x, height - 18, width, 16);
  context.globalAlpha = 1;
  context.fillStyle = palette.ground;
  context.fillText(text, x + 4, height - 10);
}

// Adds a mark at `time`, named by the next number.
export function addMark(app, time) {
  const numbers = app.marks.map(({ name }) => Number(name)).filter(Number.isInteger);
  app.marks.push({ time, name: String(Math.max(0, ...numbers) + 1) });
  app.marks.sort((a, b) => a.time - b.time);
  app.changed();
}
