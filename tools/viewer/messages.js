// Messages between ranks: which send belongs to which receive, how much each rank sent to each
// other, and arrows in the timeline, also those from commits to their work in the background.

// Pairs of events {from, to}. Between two ranks, the n-th send of a size belongs to the n-th
// receive of that size, because MPI keeps messages of one tag in order. An event without a partner
// of its size takes the next that is left.
export function matchMessages(model) {
  const { peer, bytes } = model.columns;
  const pairs = [];
  const match = (events, keyOf) => {
    const waiting = new Map();
    for (const event of events.filter((e) => model.kindName(e) === "receive")) {
      const key = keyOf(event, peer[event], model.rank[event]);
      if (!waiting.has(key)) {
        waiting.set(key, []);
      }
      waiting.get(key).push(event);
    }
    const taken = new Map();
    const left = [];
    for (const from of events.filter((e) => model.kindName(e) === "send")) {
      const key = keyOf(from, model.rank[from], peer[from]);
      const at = taken.get(key) ?? 0;
      const to = waiting.get(key)?.[at];
      if (to === undefined) {
        left.push(from);
      } else {
        pairs.push({ from, to });
        taken.set(key, at + 1);
      }
    }
    return [...left, ...[...waiting].flatMap(([key, receives]) => receives.slice(taken.get(key) ?? 0))];
  };
  const messages = [...Array(model.count).keys()].filter((e) => peer[e] >= 0 && ["send", "receive"].includes(model.kindName(e)));
  const left = match(messages, (event, from, to) => `${from} ${to} ${bytes[event]}`);
  match(left.sort((x, y) => x - y), (_, from, to) => `${from} ${to}`);
  return pairs.sort((x, y) => model.begin[x.from] - model.begin[y.from]);
}

// What was sent in the interval: {bytes, count}, arrays of rank × rank, one row per sender. Without
// sends in the trace, the receives count.
export function matrixOf(model, { t0, t1 }) {
  const { rankCount: ranks, begin, end } = model;
  const { peer, bytes } = model.columns;
  const index = (name) => model.kinds.findIndex((kind) => kind.name === name && kind.occurs);
  const send = index("send");
  const kind = send >= 0 ? send : index("receive");
  const matrix = { bytes: new Float64Array(ranks * ranks), count: new Float64Array(ranks * ranks) };
  for (let i = 0; i < model.count && kind >= 0; ++i) {
    if (model.kind[i] === kind && peer[i] >= 0 && peer[i] < ranks && begin[i] < t1 && end[i] > t0) {
      const cell = send >= 0 ? model.rank[i] * ranks + peer[i] : peer[i] * ranks + model.rank[i];
      matrix.bytes[cell] += Math.max(0, bytes[i]);
      matrix.count[cell] += 1;
    }
  }
  return matrix;
}

const kMostArrows = 1500;
const kHead = 5; // pixels
const kMostNumbered = 64; // ranks with numbers beside the matrix

// From commits to their work in the background, from the end of the call to where the work begins.
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

// The matrix as a picture: senders from the top, receivers from the left; more bytes are darker.
export function drawMatrix(app, canvas, matrix) {
  const ranks = app.model.rankCount;
  const scale = globalThis.devicePixelRatio || 1;
  const side = Math.round(canvas.clientWidth * scale) || 1;
  canvas.width = canvas.height = side;
  const context = canvas.getContext("2d");
  const room = ranks <= kMostNumbered ? Math.round(18 * scale) : 0; // for the ranks' numbers
  const cell = (side - room) / ranks;
  const most = matrix.bytes.reduce((a, b) => Math.max(a, b), 1);
  context.fillStyle = app.palette.ground;
  context.fillRect(0, 0, side, side);
  context.fillStyle = app.palette.write;
  for (let from = 0; from < ranks; ++from) {
    for (let to = 0; to < ranks; ++to) {
      const at = from * ranks + to;
      if (matrix.count[at] > 0) {
        context.globalAlpha = 0.2 + 0.8 * (Math.log1p(matrix.bytes[at]) / Math.log1p(most));
        const gap = cell > 8 ? 1 : 0;
        context.fillRect(room + to * cell, room + from * cell, Math.max(1, cell - gap), Math.max(1, cell - gap));
      }
    }
  }
  context.globalAlpha = 1;
  context.fillStyle = app.palette.muted;
  context.font = `${11 * scale}px system-ui, "DejaVu Sans", sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  const step = Math.ceil((16 * scale) / cell);
  for (let rank = 0; room > 0 && rank < ranks; rank += step) {
    context.fillText(String(rank), room + (rank + 0.5) * cell, room / 2);
    context.fillText(String(rank), room / 2, room + (rank + 0.5) * cell);
  }
}
