// A request from the application's call to the storage: the spans around one, those inside it, and
// what other ranks did for it. What a commit left to the background counts as inside the commit.

const kMost = 100000;

// The spans around an event, outermost first.
export function ancestors(model, event) {
  const chain = [];
  for (let at = model.causeOf(event); at >= 0 && chain.length < 64; at = model.causeOf(at)) {
    chain.unshift(at);
  }
  return chain;
}

// All spans inside an event as [{event, depth}], parents before children.
export function descendants(model, event) {
  const found = [];
  const stack = [{ event, depth: 0 }];
  while (stack.length > 0 && found.length < kMost) {
    const item = stack.pop();
    const children = [...model.children(item.event), ...model.leftBy(item.event)];
    for (let c = children.length - 1; c >= 0; --c) {
      stack.push({ event: children[c], depth: item.depth + 1 });
    }
    if (item.event !== event) {
      found.push(item);
    }
  }
  return found;
}

// The storage requests that the peers of these spans made for the same call: those on the span's
// file while the call lasted.
function servedByPeers(model, events, call) {
  const { peer, file } = model.columns;
  const files = new Set();
  const peers = new Set();
  for (const event of events) {
    if (peer[event] >= 0 && peer[event] !== model.rank[call] && peer[event] < model.rankCount) {
      peers.add(peer[event]);
    }
    if (file[event] >= 0) {
      files.add(file[event]);
    }
  }
  const found = [];
  for (const rank of [...peers].sort((a, b) => a - b)) {
    for (const strand of model.strandsOf(rank)) {
      for (let i = model.strandStart[strand]; i < model.strandStart[strand + 1] && model.begin[i] <= model.end[call]; ++i) {
        const moves = model.kinds[model.kind[i]].moves;
        if (moves && model.end[i] >= model.begin[call] && (files.size === 0 || files.has(file[i]))) {
          found.push(i);
        }
      }
    }
  }
  return found;
}

// {around, inside: [{event, depth}], elsewhere, members: Uint8Array over all events}.
export function follow(model, event) {
  const around = ancestors(model, event);
  const inside = descendants(model, event);
  const call = around[0] ?? event;
  const elsewhere = servedByPeers(model, [event, ...inside.map((item) => item.event)], call);
  const members = new Uint8Array(model.count);
  for (const member of [...around, event, ...inside.map((item) => item.event), ...elsewhere]) {
    members[member] = 1;
  }
  return { event, around, inside, elsewhere, members };
}
