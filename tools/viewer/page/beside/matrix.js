// The matrix of what each rank sent to each other.
const kMostNumbered = 64; // ranks with numbers beside the matrix

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
