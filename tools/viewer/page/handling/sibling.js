// Two runs in one page, each in a frame of its own. Both open at the scale of the wider one. When
// one is moved or zoomed, the other moves by as much from where it is.

const kName = "stria-sibling"; // the frames' name, as in side_by_side.cpp

export function attachSibling(app) {
  if (window.parent === window || window.name !== kName) {
    return;
  }
  document.documentElement.dataset.framed = "true";
  const { viewport } = app;
  const show = (t0, span) => {
    viewport.show(t0, t0 + span);
    app.told = { t0: viewport.t0, span: viewport.span };
    app.changed();
  };
  app.told = { t0: viewport.t0, span: viewport.span };
  addEventListener("message", ({ data, source }) => {
    if (source === window.parent && data?.striaWiden > 0) {
      show((viewport.t0 + viewport.t1 - data.striaWiden) / 2, data.striaWiden);
    } else if (source === window.parent && Number.isFinite(data?.striaMove) && data.striaSpan > 0) {
      show(viewport.t0 + data.striaMove, data.striaSpan);
    }
  });
  window.parent.postMessage({ striaOpen: viewport.span }, "*");
}

// Tells the page around that the window has moved.
export function tellSibling({ told, viewport }) {
  if (told && (told.t0 !== viewport.t0 || told.span !== viewport.span)) {
    window.parent.postMessage({ striaMove: viewport.t0 - told.t0, striaSpan: viewport.span }, "*");
    Object.assign(told, { t0: viewport.t0, span: viewport.span });
  }
}
