// Arrows in the timeline: of messages, and from commits to their work in the background.
import { matchMessages } from "../run/messages.js";

const kMostArrows = 1500;
const kHead = 5; // pixels

// Leads from commits to their work in the background, from the end of the call to where the work
// begins.
function tiesOf(model) {
  const onOtherRow = ([to, from]) => model.strand[to] !== model.strand[from];
  return [...model.ties.commitOf].filter(onOtherRow).map(([to, from]) => ({ from, to, tied: true }));
}

// Draws arrows from where a message was sent to where it had arrived, and from commits to their
// work in the background, for those in view.
export function drawArrows(app, timeline) {
  app.messages ??= matchMessages(app.model);
  return drawInView(app, timeline, [...app.messages, ...tiesOf(app.model)]);
}

// Draws the arrows between a commit that is followed and its work.
export function drawTies(app, timeline) {
  const { members } = app.selection;
  return drawInView(app, timeline, tiesOf(app.model).filter(({ from, to }) => members[from] && members[to]));
}

function drawInView(app, timeline, arrows) {
  const { model, viewport, palette } = app;
  const { context } = timeline.area;
  const inView = arrows.filter(
    ({ from, to }) => model.end[to] > viewport.t0 && model.begin[from] < viewport.t1 && app.rowOfStrand[model.strand[from]] >= 0,
  );
  context.strokeStyle = palette.ink;
  context.fillStyle = palette.ink;
  context.lineWidth = 1;
  context.globalAlpha = inView.length > 200 ? 0.3 : 0.75;
  for (const { from, to, tied } of inView.slice(0, kMostArrows)) {
    const [a, b] = [timeline.boxOf(from), timeline.boxOf(to)];
    if (a && b) {
      const [begin, end] = tied ? [a.left + a.width, b.left] : [a.left, b.left + b.width];
      drawArrow(context, [begin, a.top + a.height / 2], [end, b.top + b.height / 2]);
    }
  }
  context.globalAlpha = 1;
  return Math.min(inView.length, kMostArrows);
}

function drawArrow(context, [x0, y0], [x1, y1]) {
  const length = Math.hypot(x1 - x0, y1 - y0) || 1;
  const [dx, dy] = [((x1 - x0) / length) * kHead, ((y1 - y0) / length) * kHead];
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x1 - dx - dy / 2, y1 - dy + dx / 2);
  context.lineTo(x1 - dx + dy / 2, y1 - dy - dx / 2);
  context.fill();
}
