// Messages between ranks: which send belongs to which receive, and how much each rank sent to each
// other.

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
