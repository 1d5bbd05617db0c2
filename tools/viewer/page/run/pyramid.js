// Sums over time at every zoom, by the preview pyramid of Jumpshot (Zaki et al. 1999).
//
// The run is cut into buckets, usually 32,768. Each holds a sum for every channel (nanoseconds
// of ranks in a state, bytes moved, requests of a size); each level above adds pairs. The sums
// of a window come from the coarsest level that is finer than a pixel, in time proportional to
// the pixels. Where pixels are finer than buckets, they come from the spans themselves, which
// are few by then.

const kBuckets = 32768;
const kSumColumns = 512;

// Adds a span of `density` per nanosecond to `sums`: rows of `channels` values, for columns of
// `width` nanoseconds from t0 on.
export function addSpan(sums, channels, count, t0, width, span) {
  const from = Math.max(0, (span.begin - t0) / width);
  const to = Math.min(count, (span.end - t0) / width);
  if (!(to > from)) {
    return;
  }
  const first = Math.floor(from);
  const last = Math.min(count - 1, Math.floor(to));
  const amount = span.density * width;
  if (first === last) {
    sums[first * channels + span.channel] += (to - from) * amount;
    return;
  }
  sums[first * channels + span.channel] += (first + 1 - from) * amount;
  for (let column = first + 1; column < last; ++column) {
    sums[column * channels + span.channel] += amount;
  }
  sums[last * channels + span.channel] += (to - last) * amount;
}

export class Pyramid {
  // `source(t0, t1, add)` calls add({begin, end, channel, density}) for every span that
  // meets [t0, t1).
  constructor({ duration, channels, source, buckets = kBuckets }) {
    this.duration = duration;
    this.channels = channels;
    this.source = source;
    const base = new Float64Array(buckets * channels);
    this.width = duration / buckets;
    source(0, duration, (span) => addSpan(base, channels, buckets, 0, this.width, span));
    this.levels = [base];
    while (this.levels.at(-1).length > channels) {
      this.levels.push(pairSums(this.levels.at(-1), channels));
    }
  }

  // Sums of each channel over [0, duration).
  totals() {
    return this.levels.at(-1);
  }

  // Sums of each channel over the window. They are exact except for the buckets at its ends, which
  // are much narrower than the window.
  sums(t0, t1) {
    const columns = this.columns(t0, t1, kSumColumns);
    const sums = new Float64Array(this.channels);
    columns.forEach((value, at) => (sums[at % this.channels] += value));
    return sums;
  }

  // The sums for `count` columns of the window [t0, t1): count rows of `channels` values.
  columns(t0, t1, count) {
    const sums = new Float64Array(count * this.channels);
    const columnWidth = (t1 - t0) / count;
    if (columnWidth < this.width) {
      this.source(t0, t1, (span) => addSpan(sums, this.channels, count, t0, columnWidth, span));
      return sums;
    }
    const level = Math.min(this.levels.length - 1, Math.floor(Math.log2(columnWidth / this.width)));
    const bucketWidth = this.width * 2 ** level;
    const buckets = this.levels[level];
    const bucketCount = buckets.length / this.channels;
    const first = Math.max(0, Math.floor(t0 / bucketWidth));
    const last = Math.min(bucketCount, Math.ceil(t1 / bucketWidth));
    const span = { begin: 0, end: 0, channel: 0, density: 0 };
    for (let bucket = first; bucket < last; ++bucket) {
      span.begin = bucket * bucketWidth;
      span.end = span.begin + bucketWidth;
      for (let channel = 0; channel < this.channels; ++channel) {
        const sum = buckets[bucket * this.channels + channel];
        if (sum > 0) {
          span.channel = channel;
          span.density = sum / bucketWidth;
          addSpan(sums, this.channels, count, t0, columnWidth, span);
        }
      }
    }
    return sums;
  }
}

function pairSums(below, channels) {
  const above = new Float64Array(below.length / 2);
  for (let bucket = 0; bucket < above.length / channels; ++bucket) {
    for (let channel = 0; channel < channels; ++channel) {
      above[bucket * channels + channel] =
        below[2 * bucket * channels + channel] + below[(2 * bucket + 1) * channels + channel];
    }
  }
  return above;
}
