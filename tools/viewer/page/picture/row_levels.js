// Rows from afar: for every strand, what fills most of each 4,096th of the run, and of each
// 2,048th, 1,024th and 512th. A row with wider pixels is painted in time proportional to its
// pixels, however many spans it has.
import { kShades, LinePainter, paintSegments } from "./raster.js";

const kFinest = 4096;
const kLevels = 4;
const kEmpty = 0xffff;

export class RowLevels {
  constructor(kinds, painted, strandCount, duration) {
    this.painted = painted;
    this.duration = duration;
    this.levels = Array.from({ length: kLevels }, (_, level) => new Uint16Array((strandCount * kFinest) >> level).fill(kEmpty));
    // A painter in which each colour is its own number: paint × shades + shade.
    const numbers = { kinds, shades: Uint16Array.from({ length: 2 * kinds * kShades }, (_, number) => number) };
    const painter = new LinePainter(numbers);
    this.plain = kinds * kShades;
    for (let strand = 0; strand < strandCount; ++strand) {
      paintSegments(painter, this.levels[0].subarray(strand * kFinest, (strand + 1) * kFinest), painted, strand, 0, duration / kFinest);
    }
    for (let level = 1; level < kLevels; ++level) {
      const below = this.levels[level - 1];
      const above = this.levels[level];
      for (let i = 0; i < above.length; ++i) {
        above[i] = this.stronger(below[2 * i], below[2 * i + 1]);
      }
    }
  }

  // The stronger of two neighbours: the one that is emphasised, or else the one that fills more.
  stronger(a, b) {
    if (a === kEmpty || b === kEmpty) {
      return a === kEmpty ? b : a;
    }
    const emphasisDiffers = a < this.plain !== b < this.plain;
    if (emphasisDiffers) {
      return a < this.plain ? a : b;
    }
    return a % kShades >= b % kShades ? a : b;
  }

  // Paints a line for a strand; false when its pixels are too narrow for these levels.
  paint(line, shades, strand, t0, perPixel) {
    const level = Math.min(kLevels - 1, Math.floor(Math.log2((perPixel * kFinest) / this.duration)));
    if (level < 0) {
      return false;
    }
    const count = kFinest >> level;
    const perBucket = count / this.duration;
    const first = strand * count;
    const numbers = this.levels[level];
    for (let x = 0; x < line.length; ++x) {
      const from = Math.floor((t0 + x * perPixel) * perBucket);
      const to = Math.min(count, Math.floor((t0 + (x + 1) * perPixel) * perBucket));
      let number = numbers[first + Math.min(from, count - 1)];
      for (let bucket = from + 1; bucket < to; ++bucket) {
        number = this.stronger(number, numbers[first + bucket]);
      }
      if (number !== kEmpty) {
        line[x] = shades[number];
      }
    }
    return true;
  }
}
