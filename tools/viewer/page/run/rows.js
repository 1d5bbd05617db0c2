// The rows of the timeline: one per rank, node or aggregator, in the order of any counter. Below a
// rank's row stands one for each of its threads that commit in the background.

export const kGroupings = ["rank", "node", "aggregator"];

// Rows of {label, ranks, strands}. A rank's row has one rank and one strand; a node's has all of
// its ranks with their own strands.
export function makeRows(model, grouping) {
  const ranks = Array.from({ length: model.rankCount }, (_, rank) => rank);
  if (grouping === "node") {
    return model.header.nodes
      .map((name, node) => ({ label: name, ranks: ranks.filter((rank) => model.header.rank_nodes[rank] === node) }))
      .filter((row) => row.ranks.length > 0)
      .map((row) => ({ ...row, strands: row.ranks.map((rank) => model.ownStrand[rank]) }));
  }
  const shown = grouping === "aggregator" ? model.header.aggregators : ranks;
  const labelOf = (strand, rank) => `rank ${rank}${model.strands[strand].background ? ", background" : ""}`;
  return shown.flatMap((rank) => model.strandsOf(rank).map((strand) => ({ label: labelOf(strand, rank), ranks: [rank], strands: [strand] })));
}

// Lists by what rows can be sorted: the counters of the header, and the time of ranks in each
// state.
export function makeCounters(model, segments) {
  const counters = model.header.counters.map(({ name, unit, values }) => ({ name, unit, values }));
  const times = model.kinds.map(() => new Float64Array(model.rankCount));
  model.strands.forEach(({ rank }, strand) => {
    for (let s = segments.strandStart[strand]; s < segments.strandStart[strand + 1]; ++s) {
      const event = segments.event[s];
      if (event >= 0) {
        times[model.kind[event]][rank] += segments.endOf(s, strand) - segments.start[s];
      }
    }
  });
  model.kinds.forEach((kind, index) => {
    if (times[index].some((value) => value > 0)) {
      counters.push({ name: `time in ${kind.name}`, unit: "ns", values: times[index] });
    }
  });
  return counters;
}

export function counterOf(counter, row) {
  return row.ranks.reduce((sum, rank) => sum + counter.values[rank], 0);
}

// Largest first; without a counter in order of rank.
export function sortRows(rows, counter) {
  if (!counter) {
    return rows;
  }
  const keyed = rows.map((row) => ({ row, key: counterOf(counter, row) }));
  return keyed.sort((a, b) => b.key - a.key || a.row.strands[0] - b.row.strands[0]).map(({ row }) => row);
}
