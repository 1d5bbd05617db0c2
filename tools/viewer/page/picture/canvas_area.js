// A canvas that fits its element at the screen's resolution, with room for labels at its left.
export const kGutter = 118; // CSS pixels, the same in all charts so that their times line up

export class CanvasArea {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.fit();
  }

  // Takes the element's size; returns whether it changed.
  fit() {
    const scale = globalThis.devicePixelRatio || 1;
    const box = this.canvas.getBoundingClientRect();
    const width = Math.max(kGutter + 50, Math.round(box.width));
    const height = Math.max(1, Math.round(box.height));
    if (width === this.width && height === this.height && scale === this.scale) {
      return false;
    }
    Object.assign(this, { width, height, scale });
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    this.plotWidth = width - kGutter;
    this.deviceGutter = Math.round(kGutter * scale);
    this.deviceWidth = this.canvas.width - this.deviceGutter;
    this.image = null;
    return true;
  }

  // Pixels for the plot, `rows` device rows high: {data: Uint32Array, put(y)}.
  pixels(rows) {
    if (!this.image || this.image.height !== rows) {
      this.image = new ImageData(this.deviceWidth, Math.max(1, rows));
      this.words = new Uint32Array(this.image.data.buffer);
    }
    return this.words;
  }

  put(y) {
    this.context.putImageData(this.image, this.deviceGutter, Math.round(y * this.scale));
  }

  // Clears everything and makes a unit one CSS pixel.
  clear(color) {
    const { context } = this;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = color;
    context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    context.setTransform(this.scale, 0, 0, this.scale, 0, 0);
    context.font = "11px system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif";
    context.textBaseline = "middle";
    context.textAlign = "left";
  }

  // CSS x of a moment in the window, and back.
  xOf(time, { t0, span }) {
    return kGutter + ((time - t0) / span) * this.plotWidth;
  }

  timeAt(x, { t0, span }) {
    return t0 + ((x - kGutter) / this.plotWidth) * span;
  }

  // A label in the gutter, its right edge at the plot.
  label(text, y, color) {
    this.context.fillStyle = color;
    this.context.textAlign = "right";
    this.context.fillText(text, kGutter - 8, y);
    this.context.textAlign = "left";
  }
}
