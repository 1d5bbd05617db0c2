// Numbers as people read them.

const kTimeUnits = [
  { name: "h", ns: 3600e9 },
  { name: "min", ns: 60e9 },
  { name: "s", ns: 1e9 },
  { name: "ms", ns: 1e6 },
  { name: "µs", ns: 1e3 },
  { name: "ns", ns: 1 },
];
const kByteUnits = ["B", "kB", "MB", "GB", "TB", "PB"];

// Three significant digits, no exponent, no trailing zeros after the point.
export function digits(value) {
  if (value === 0) {
    return "0";
  }
  const size = Math.abs(value);
  const decimals = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  return String(Number(value.toFixed(decimals)));
}

export function count(value) {
  return Math.round(value).toLocaleString("en-US");
}

export function time(ns) {
  const size = Math.abs(ns);
  const unit = kTimeUnits.find((u) => u.ns <= Math.max(size, 1) && (u.ns < 60e9 || size >= 100 * 60e9)) ?? kTimeUnits[5];
  return `${digits(ns / unit.ns)} ${unit.name}`;
}

// A moment of the run in seconds, with all nanoseconds that are not zero.
export function moment(ns) {
  const whole = Math.floor(ns / 1e9);
  const rest = String(Math.round(ns - whole * 1e9)).padStart(9, "0").replace(/0{1,6}$/, "");
  return `${whole}.${rest} s`;
}

export function bytes(value) {
  let unit = 0;
  let size = value;
  while (size >= 1000 && unit < kByteUnits.length - 1) {
    size /= 1000;
    ++unit;
  }
  return `${digits(size)} ${kByteUnits[unit]}`;
}

// Turns bytes and nanoseconds into 10⁶ bytes per second; from 10,000 of these on, into the
// next larger unit.
export function rate(byteCount, ns) {
  if (ns <= 0) {
    return "";
  }
  const units = ["MB/s", "GB/s", "TB/s"];
  let value = (byteCount / ns) * 1e3;
  let unit = 0;
  for (; value >= 1e4 && unit < units.length - 1; ++unit) {
    value /= 1e3;
  }
  return `${value >= 1000 ? count(value) : digits(value)} ${units[unit]}`;
}

export function percent(share) {
  const value = share * 100;
  return value > 0 && value < 0.1 ? "< 0.1 %" : `${value.toFixed(value < 10 ? 1 : 0)} %`;
}

// The least of 1, 2, 5, 10, … that is not less than `least`.
export function roundStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return power * ([1, 2, 5].find((m) => m * power >= least) ?? 10);
}

// Round steps (1, 2, 5 × 10^k) that divide [low, high] into about `wanted` parts.
export function ticks(low, high, wanted) {
  const rough = (high - low) / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((m) => m * power >= rough) ?? 10);
  const result = [];
  for (let k = Math.ceil(low / step); k * step <= high; ++k) {
    result.push(k * step);
  }
  return { step, values: result };
}

// The ticks of a time axis: the moment from which they all count, and a short label for each.
export function timeTicks(t0, t1, wanted) {
  const { step } = ticks(0, t1 - t0, wanted);
  // The largest unit in which the moment is at least one and the step has at most three decimals.
  const unit = kTimeUnits.find((u) => u.ns <= 1e9 && u.ns <= t1 && u.ns <= step * 1000) ?? kTimeUnits[5];
  const block = step * 1000;
  const origin = t1 / unit.ns >= 1e5 ? Math.floor(t0 / block) * block : 0;
  const decimals = Math.max(0, -Math.floor(Math.log10(step / unit.ns) + 1e-9));
  const labels = [];
  for (let k = Math.ceil((t0 - origin) / step); origin + k * step <= t1; ++k) {
    const sign = origin > 0 ? "+" : "";
    labels.push({ at: origin + k * step, text: `${sign}${((k * step) / unit.ns).toFixed(decimals)} ${unit.name}` });
  }
  return { origin, labels };
}
