// Knows which part of the run is on the screen: a window of time, a height for rows, how far
// they are scrolled.

const kLeastSpan = 200; // ns
export const kMaxRowHeight = 480;

export class Viewport {
  constructor(duration) {
    this.duration = duration;
    this.t0 = 0;
    this.t1 = duration;
    this.rowHeight = 12;
    this.scroll = 0;
    this.rowCount = 1;
    this.height = 1;
  }

  get span() {
    return this.t1 - this.t0;
  }

  show(t0, t1) {
    const span = Math.min(this.duration, Math.max(kLeastSpan, t1 - t0));
    const middle = (t0 + t1) / 2;
    this.t0 = Math.max(0, Math.min(this.duration - span, middle - span / 2));
    this.t1 = this.t0 + span;
  }

  // Zooms by `factor` (> 1 is closer) and keeps `time` where it is.
  zoom(factor, time) {
    const span = Math.min(this.duration, Math.max(kLeastSpan, this.span / factor));
    const share = (time - this.t0) / this.span;
    this.t0 = Math.max(0, Math.min(this.duration - span, time - share * span));
    this.t1 = this.t0 + span;
  }

  pan(ns) {
    this.show(this.t0 + ns, this.t1 + ns);
  }

  setRows(rowCount, height) {
    this.rowCount = rowCount;
    this.height = height;
    this.scrollTo(this.scroll);
  }

  // Changes the height of rows and keeps the row at `y` where it is.
  zoomRows(factor, y) {
    const row = (this.scroll + y) / this.rowHeight;
    const wanted = Math.max(1, Math.min(kMaxRowHeight, this.rowHeight * factor));
    this.rowHeight = wanted > this.rowHeight ? Math.ceil(wanted) : Math.floor(wanted);
    this.scrollTo(row * this.rowHeight - y);
  }

  scrollTo(pixels) {
    this.scroll = Math.round(Math.max(0, Math.min(this.rowCount * this.rowHeight - this.height, pixels)));
  }

  showRow(row) {
    const top = row * this.rowHeight;
    if (top < this.scroll || top + this.rowHeight > this.scroll + this.height) {
      this.scrollTo(top - (this.height - this.rowHeight) / 2);
    }
  }

  rowAt(y) {
    const row = Math.floor((this.scroll + y) / this.rowHeight);
    return row >= 0 && row < this.rowCount ? row : -1;
  }
}
