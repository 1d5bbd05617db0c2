// The view as the end of the page's address, so that a copied address opens the same view. Names
// are short; what has its first value is left out.
const kWriteAfterMs = 250;

export function viewText(app) {
  const { viewport, elements } = app;
  const round = (time) => Math.round(time);
  const fields = new URLSearchParams();
  fields.set("t", `${round(viewport.t0)}-${round(viewport.t1)}`);
  const add = (name, value) => value && fields.set(name, value);
  add("rows", app.grouping === "rank" ? "" : app.grouping);
  add("sort", app.counter?.name);
  add("search", elements.search.value.trim());
  add("track", elements.track.value);
  add("span", app.selection ? String(app.selection.event) : "");
  add("interval", app.interval ? `${round(app.interval.t0)}-${round(app.interval.t1)}` : "");
  add("arrows", app.showArrows ? "1" : "");
  app.model.kinds.filter((_, index) => app.hidden[index]).forEach(({ name }) => fields.append("hide", name));
  for (const { time, name } of app.marks) {
    fields.append("mark", `${round(time)} ${name}`);
  }
  return fields.toString();
}

// [begin, end] of "12-345", or null.
function timesOf(text) {
  const found = /^(\d+)-(\d+)$/.exec(text ?? "");
  return found && Number(found[1]) < Number(found[2]) ? [Number(found[1]), Number(found[2])] : null;
}

// Takes the view from the address. What the address does not say, or this run does not have,
// stays as it is.
export function takeView(app, text) {
  const fields = new URLSearchParams(text.replace(/^#/, ""));
  const { elements, model } = app;
  const window = timesOf(fields.get("t"));
  if (!window) {
    return;
  }
  if (["node", "aggregator"].includes(fields.get("rows"))) {
    elements.group.value = fields.get("rows");
    app.setGrouping(fields.get("rows"));
  }
  const counter = app.counters.findIndex(({ name }) => name === fields.get("sort"));
  if (counter >= 0) {
    elements.sort.value = String(counter);
    app.sortBy(counter);
  }
  for (const name of fields.getAll("hide")) {
    const kind = model.kinds.findIndex((k) => k.name === name);
    if (kind >= 0 && !app.hidden[kind]) {
      app.toggleKind(kind);
    }
  }
  elements.search.value = fields.get("search") ?? "";
  app.search(elements.search.value);
  if (app.tracks.some(({ id }) => id === fields.get("track"))) {
    elements.track.value = fields.get("track");
  }
  app.setArrows(fields.get("arrows") === "1");
  app.marks = fields.getAll("mark").flatMap((mark) => {
    const found = /^(\d+) (.*)$/.exec(mark);
    return found ? [{ time: Number(found[1]), name: found[2] }] : [];
  });
  const interval = timesOf(fields.get("interval"));
  app.interval = interval ? { t0: interval[0], t1: interval[1] } : null;
  const event = Number(fields.get("span") ?? -1);
  app.select(event >= 0 && event < model.count ? event : -1);
  app.viewport.show(...window);
  app.changed();
}

// Keeps the address up to date. Pages inside other pages have no address of their own.
export function keepLink(app) {
  clearTimeout(app.linkTimer);
  app.linkTimer = setTimeout(() => {
    try {
      history.replaceState(null, "", `#${viewText(app)}`);
    } catch {
      // A browser that refuses this shows the same page.
    }
  }, kWriteAfterMs);
}

export function copyLink(app, button) {
  const say = (text) => {
    button.textContent = text;
    setTimeout(() => (button.textContent = "Link"), 2000);
  };
  history.replaceState(null, "", `#${viewText(app)}`);
  const copying = navigator.clipboard?.writeText(location.href) ?? Promise.reject(new Error("no clipboard"));
  copying.then(() => say("Copied"), () => say("In the address bar"));
}
