// Paints lines of pixels from sorted spans, in time proportional to the spans and the pixels,
// without a drawing call per span.
//
// A pixel shows the state that fills most of it. It is paler the less of it is filled, but never
// invisible. Emphasised spans win over dimmed ones in the same pixel, so that a short request that
// was searched for is visible from afar.

export const kShades = 16;
const kFaintest = 4;

function mix(color, ground, share) {
  const channel = (k) => Math.round(ground[k] + (color[k] - ground[k]) * share);
  return (255 << 24) | (channel(2) << 16) | (channel(1) << 8) | channel(0);
}

// The paints of K kinds: 0 … K-1 plain, K … 2 K-1 dimmed.
export class Paints {
  constructor(colors, ground) {
    this.kinds = colors.length;
    this.ground = mix(ground, ground, 1) >>> 0;
    this.shades = new Uint32Array(2 * colors.length * kShades);
    colors.forEach((color, kind) => {
      for (let shade = 0; shade < kShades; ++shade) {
        const share = (shade + 1) / kShades;
        this.shades[kind * kShades + shade] = mix(color, ground, share);
        this.shades[(kind + colors.length) * kShades + shade] = mix(color, ground, share * 0.22);
      }
    });
  }
}

export class LinePainter {
  constructor(paints) {
    this.paints = paints;
    this.sums = new Float64Array(2 * paints.kinds);
    this.touched = new Uint16Array(2 * paints.kinds);
    this.touchedCount = 0;
  }

  start(line) {
    this.line = line;
    this.width = line.length;
    this.pixel = -1;
  }

  // Paints [x0, x1) pixels. Spans come in ascending order and don't overlap.
  span(x0, x1, paint) {
    const { width } = this;
    if (x1 < 0 || x0 >= width) {
      return;
    }
    const from = x0 < 0 ? 0 : x0;
    const to = x1 > width ? width : x1;
    const first = from | 0;
    const last = to | 0;
    if (first !== this.pixel) {
      this.flush();
      this.pixel = first;
    }
    if (first === last) {
      this.add(paint, to - from);
      return;
    }
    this.add(paint, first + 1 - from);
    this.flush();
    this.line.fill(this.paints.shades[paint * kShades + kShades - 1], first + 1, last);
    this.pixel = last;
    if (last < width && to > last) {
      this.add(paint, to - last);
    }
  }

  add(paint, share) {
    if (this.sums[paint] === 0) {
      this.touched[this.touchedCount++] = paint;
    }
    this.sums[paint] += share + 1e-6;
  }

  flush() {
    if (this.touchedCount === 0) {
      return;
    }
    const { sums, touched, paints } = this;
    let best = -1;
    let bestSum = 0;
    let filled = 0;
    for (let i = 0; i < this.touchedCount; ++i) {
      const paint = touched[i];
      const weight = paint < paints.kinds ? sums[paint] * 1e6 : sums[paint];
      filled += sums[paint];
      if (weight > bestSum) {
        bestSum = weight;
        best = paint;
      }
      sums[paint] = 0;
    }
    this.touchedCount = 0;
    const shade = Math.min(kShades - 1, kFaintest + Math.floor(filled * (kShades - kFaintest)));
    if (this.pixel >= 0 && this.pixel < this.width) {
      this.line[this.pixel] = paints.shades[best * kShades + shade];
    }
  }
}

// The innermost states of a strand.
export function paintSegments(painter, line, { segments, kind, emphasis }, strand, t0, perPixel) {
  const kinds = painter.paints.kinds;
  const t1 = t0 + perPixel * line.length;
  const last = segments.strandStart[strand + 1];
  const scale = 1 / perPixel;
  painter.start(line);
  for (let s = segments.find(strand, t0); s < last; ++s) {
    const begin = segments.start[s];
    if (begin >= t1) {
      break;
    }
    const event = segments.event[s];
    if (event >= 0) {
      const paint = emphasis && !emphasis[event] ? kind[event] + kinds : kind[event];
      painter.span((begin - t0) * scale, (segments.endOf(s, strand) - t0) * scale, paint);
    }
  }
  painter.flush();
}

// One lane of a strand: spans of one depth.
export function paintLane(painter, line, { model, hidden, emphasis }, lane, t0, perPixel) {
  const { begin, end, kind, laneEvents, laneStart } = model;
  const kinds = painter.paints.kinds;
  const t1 = t0 + perPixel * line.length;
  const last = laneStart[lane + 1];
  const scale = 1 / perPixel;
  painter.start(line);
  for (let p = model.firstVisible(lane, t0); p < last; ++p) {
    const event = laneEvents[p];
    if (begin[event] >= t1) {
      break;
    }
    if (!hidden[kind[event]]) {
      const paint = emphasis && !emphasis[event] ? kind[event] + kinds : kind[event];
      painter.span((begin[event] - t0) * scale, (end[event] - t0) * scale, paint);
    }
  }
  painter.flush();
}

// Stacks channels from the bottom. `sums` has one row of values per column; `full` is the value of
// the whole height.
export function paintStack(pixels, width, height, sums, { colors, order, full }) {
  const channels = colors.length;
  for (let x = 0; x < width; ++x) {
    let below = 0;
    let y0 = height;
    for (const channel of order) {
      below += sums[x * channels + channel];
      const y1 = Math.max(0, Math.round(height - (below / full) * height));
      for (let y = y1; y < y0; ++y) {
        pixels[y * width + x] = colors[channel];
      }
      y0 = Math.min(y0, y1);
    }
  }
}
