// The profile of an interval. For each kind of span: how often it ran, how long with everything
// inside it, how long by itself, and what it moved.

// [{kind, name, count, inclusive, exclusive, bytes}] in nanoseconds summed over the ranks; the kind
// that is longest by itself comes first. A span counts with its part in the interval. A span within
// another of its kind counts once.
export function profileOf({ model, states, backgrounds }, { t0, t1 }) {
  const rows = model.kinds.map((kind, index) => ({ kind: index, name: kind.name, count: 0, inclusive: 0, exclusive: 0, bytes: 0 }));
  const { begin, end, kind, parent } = model;
  const { bytes } = model.columns;
  for (let i = 0; i < model.count; ++i) {
    if (begin[i] >= t1 || end[i] <= t0) {
      continue;
    }
    const row = rows[kind[i]];
    const inside = Math.min(end[i], t1) - Math.max(begin[i], t0);
    row.count++;
    row.inclusive += parent[i] >= 0 && kind[parent[i]] === kind[i] ? 0 : inside;
    row.bytes += bytes[i] > 0 ? bytes[i] * (inside / Math.max(1, end[i] - begin[i])) : 0;
  }
  for (const series of [states, backgrounds]) {
    series.sums(t0, t1).forEach((time, index) => (rows[index].exclusive += time));
  }
  return rows.filter((row) => row.count > 0).sort((a, b) => b.exclusive - a.exclusive || b.inclusive - a.inclusive);
}

// The kinds in which a rank stands still.
export const kWaits = ["message wait", "barrier", "broadcast", "reduce", "gather", "turn wait"];
