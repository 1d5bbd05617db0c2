// Search: words that occur in names of kinds, levels, files, datasets or nodes, and comparisons
// such as "bytes>1MiB", "time>=2ms", "rank=3".

const kFactors = {
  b: 1, kb: 1e3, mb: 1e6, gb: 1e9, kib: 1024, mib: 1024 ** 2, gib: 1024 ** 3,
  ns: 1, us: 1e3, "µs": 1e3, ms: 1e6, s: 1e9, min: 60e9,
}; // prettier-ignore
const kComparison = /^(rank|thread|bytes|offset|time|peer|count)(<=|>=|=|<|>)([\d.]+)([a-zµ]*)$/;
const kOperators = {
  "<": (a, b) => a < b,
  ">": (a, b) => a > b,
  "<=": (a, b) => a <= b,
  ">=": (a, b) => a >= b,
  "=": (a, b) => a === b,
};

// A test of one event for one term, or an error to show.
function compile(model, term) {
  const comparison = kComparison.exec(term);
  if (comparison) {
    const [, field, operator, number, unit] = comparison;
    if (unit && !(unit in kFactors)) {
      return { error: `no unit is called ${unit}` };
    }
    const wanted = Number(number) * (kFactors[unit] ?? 1);
    const column = model.columns[field === "time" ? "duration" : field];
    const holds = kOperators[operator];
    return { test: (event) => holds(column[event], wanted) };
  }
  if (/[<>=]/.test(term)) {
    return { error: `compare rank, thread, bytes, offset, time, peer or count: ${term}` };
  }
  const occurs = (names) => names.map((name) => name.toLowerCase().includes(term));
  const kinds = model.kinds.map((kind) => kind.name.toLowerCase().includes(term) || kind.level === term);
  const { files, datasets, nodes, rank_nodes: rankNodes } = model.header;
  const inFile = occurs(files);
  const inDataset = occurs(datasets);
  const onNode = occurs(nodes);
  const { file, dataset } = model.columns;
  return {
    test: (event) =>
      kinds[model.kind[event]] ||
      inFile[file[event]] === true ||
      inDataset[dataset[event]] === true ||
      onNode[rankNodes[model.rank[event]]] === true,
  };
}

// {matches: Uint32Array of events in order of begin} or {error}.
export function search(model, query) {
  const terms = query.toLowerCase().split(/\s+/).filter(Boolean).map((term) => compile(model, term));
  const failed = terms.find((term) => term.error);
  if (failed) {
    return { error: failed.error };
  }
  const matches = [];
  for (let event = 0; event < model.count; ++event) {
    if (terms.every((term) => term.test(event))) {
      matches.push(event);
    }
  }
  return { matches: Uint32Array.from(matches).sort((a, b) => model.begin[a] - model.begin[b]) };
}
