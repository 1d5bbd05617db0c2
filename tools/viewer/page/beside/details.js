// The fields of a span as text, for the tip under the mouse and for the panel of the
// followed request.
import * as format from "../format.js";

const kMostListed = 300;

// [name, value] of every field that the span has.
export function fieldsOf(model, event) {
  const { duration, bytes, offset, thread, peer, count, id } = model.columns;
  const rank = model.rank[event];
  const node = model.node(rank);
  const fields = [
    ["rank", `${rank}${node ? ` on ${node}` : ""}`],
    ["thread", String(thread[event])],
    ["begin", format.moment(model.begin[event])],
    ["duration", format.time(duration[event])],
  ];
  if (bytes[event] >= 0) {
    fields.push(["bytes", `${format.count(bytes[event])} (${format.bytes(bytes[event])})`]);
    fields.push(["rate", format.rate(bytes[event], duration[event])]);
  }
  fields.push(["file", model.named("files", "file", event)]);
  fields.push(["offset", offset[event] >= 0 ? format.count(offset[event]) : ""]);
  fields.push(["dataset", model.named("datasets", "dataset", event)]);
  fields.push(["peer", peer[event] >= 0 ? `rank ${peer[event]}` : ""]);
  fields.push(["pieces", count[event] > 1 ? format.count(count[event]) : ""]);
  fields.push(["id", String(id[event])]);
  return fields.filter(([, value]) => value !== "");
}

export function heading(model, event) {
  return `${model.kindName(event)} (${model.level(event)})`;
}

function fieldList(model, event) {
  const list = document.createElement("dl");
  for (const [name, value] of fieldsOf(model, event)) {
    const term = document.createElement("dt");
    const text = document.createElement("dd");
    term.textContent = name;
    text.textContent = value;
    list.append(term, text);
  }
  return list;
}

export function fillTip(app, tip, hit) {
  tip.replaceChildren();
  const title = document.createElement("strong");
  if (hit.event >= 0) {
    title.textContent = heading(app.model, hit.event);
    tip.append(title, fieldList(app.model, hit.event));
    return;
  }
  title.textContent = hit.row.label;
  const text = document.createElement("p");
  text.textContent = `${format.moment(hit.time)}: ${statesAt(app, hit)}`;
  tip.append(title, text);
}

// What the strands of a row are doing at a moment.
function statesAt(app, { row, time }) {
  const counts = new Map();
  for (const strand of row.strands) {
    const event = app.segments.event[app.segments.find(strand, time)];
    const name = event >= 0 ? app.model.kindName(event) : "outside of I/O";
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const sorted = [...counts].sort((a, b) => b[1] - a[1]);
  return row.strands.length === 1 ? sorted[0][0] : sorted.map(([name, n]) => `${n} ${name}`).join(", ");
}

function eventButton(app, event, depth, chosen) {
  const { model } = app;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "span";
  button.style.paddingLeft = `${8 + 14 * depth}px`;
  button.style.setProperty("--state", app.palette.css[model.kind[event]]);
  if (chosen) {
    button.setAttribute("aria-current", "true");
  }
  const bytes = model.columns.bytes[event];
  const name = document.createElement("span");
  const cost = document.createElement("span");
  name.className = "name";
  cost.className = "cost";
  name.textContent = [model.kindName(event), model.named("datasets", "dataset", event)].filter(Boolean).join(" ");
  cost.textContent = [format.time(model.columns.duration[event]), bytes >= 0 ? format.bytes(bytes) : ""].filter(Boolean).join(" · ");
  button.append(name, cost);
  button.addEventListener("click", () => app.select(event, { show: true }));
  const item = document.createElement("li");
  item.append(button);
  return item;
}

// Lists a followed request: the calls around it, the request, what it caused, and what other
// ranks did for it.
export function fillRequest(app, element) {
  element.replaceChildren();
  const { selection, model } = app;
  if (!selection) {
    const hint = document.createElement("p");
    hint.className = "hint";
    hint.textContent = "Click a span to follow its request from the application's call to the storage.";
    element.append(hint);
    return;
  }
  const title = document.createElement("h3");
  title.textContent = heading(model, selection.event);
  element.append(title, fieldList(model, selection.event));
  const list = document.createElement("ol");
  list.className = "chain";
  selection.around.forEach((event, depth) => list.append(eventButton(app, event, depth, false)));
  const own = selection.around.length;
  list.append(eventButton(app, selection.event, own, true));
  for (const { event, depth } of selection.inside.slice(0, kMostListed)) {
    list.append(eventButton(app, event, own + depth, false));
  }
  element.append(list, leftOut(selection.inside.length));
  if (selection.elsewhere.length > 0) {
    const subtitle = document.createElement("h3");
    subtitle.textContent = "Storage requests of the ranks it exchanged with, during the call";
    const others = document.createElement("ol");
    others.className = "chain";
    for (const event of selection.elsewhere.slice(0, kMostListed)) {
      const item = eventButton(app, event, 0, false);
      item.querySelector(".name").prepend(`rank ${model.rank[event]}: `);
      others.append(item);
    }
    element.append(subtitle, others, leftOut(selection.elsewhere.length));
  }
}

function leftOut(length) {
  const note = document.createElement("p");
  note.className = "hint";
  note.textContent = length > kMostListed ? `… and ${format.count(length - kMostListed)} more` : "";
  return note;
}
