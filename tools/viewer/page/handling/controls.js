// Mouse, wheel and keyboard. The keyboard can do everything that the mouse can; "?" lists the keys.
import { fillTip } from "../beside/details.js";
import { kGutter } from "../picture/canvas_area.js";
import { addMark } from "../picture/overlays.js";
import { kAxisHeight } from "../picture/timeline.js";
import { savePicture } from "./saving.js";

const kWheelZoom = 0.0022;

export function attachControls(app) {
  attachTimeline(app);
  attachOverview(app);
  for (const area of [app.areas.states, app.areas.bandwidth, app.areas.sizes]) {
    attachWheel(app, area);
    attachDrag(app, area, { vertical: false });
  }
  attachKeys(app);
}

function attachWheel(app, area) {
  area.canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const delta = event.deltaY * (event.deltaMode === 1 ? 16 : 1);
      if (event.shiftKey) {
        app.viewport.scrollTo(app.viewport.scroll + (delta || event.deltaX));
      } else if (event.ctrlKey || event.altKey) {
        app.viewport.zoomRows(Math.exp(-delta * kWheelZoom), event.offsetY - kAxisHeight);
      } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        app.viewport.pan((event.deltaX / area.plotWidth) * app.viewport.span);
      } else if (event.offsetX < kGutter) {
        app.viewport.scrollTo(app.viewport.scroll + delta);
      } else {
        app.viewport.zoom(Math.exp(-delta * kWheelZoom), area.timeAt(event.offsetX, app.viewport));
      }
      app.changed();
    },
    { passive: false },
  );
}

// Drags the window, or with Shift an interval. `onClick` gets a press that moved less
// than 4 pixels.
function attachDrag(app, area, { vertical, onClick }) {
  const { canvas } = area;
  let from = null;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button === 0) {
      from = { x: event.offsetX, y: event.offsetY, t0: app.viewport.t0, t1: app.viewport.t1, scroll: app.viewport.scroll, moved: false, interval: event.shiftKey };
      canvas.setPointerCapture(event.pointerId);
    }
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!from) {
      return;
    }
    const dx = event.offsetX - from.x;
    const dy = event.offsetY - from.y;
    from.moved ||= Math.hypot(dx, dy) > 4;
    if (from.moved && from.interval) {
      const times = [area.timeAt(from.x, app.viewport), area.timeAt(event.offsetX, app.viewport)];
      app.setInterval(Math.min(...times), Math.max(...times));
    } else if (from.moved) {
      const ns = (dx / area.plotWidth) * (from.t1 - from.t0);
      app.viewport.show(from.t0 - ns, from.t1 - ns);
      if (vertical) {
        app.viewport.scrollTo(from.scroll - dy);
      }
      canvas.style.cursor = "grabbing";
      app.changed();
    }
  });
  const release = (event) => {
    if (from && !from.moved && event.type === "pointerup") {
      onClick?.(event);
    }
    from = null;
    canvas.style.cursor = "";
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
}

function attachTimeline(app) {
  const area = app.areas.timeline;
  const { canvas } = area;
  attachWheel(app, area);
  attachDrag(app, area, {
    vertical: true,
    onClick: (event) => {
      canvas.focus();
      const hit = app.timeline.hit(event.offsetX, event.offsetY);
      app.select(hit ? hit.event : -1);
    },
  });
  canvas.addEventListener("dblclick", (event) => {
    const hit = app.timeline.hit(event.offsetX, event.offsetY);
    if (hit && hit.event >= 0) {
      app.zoomTo(hit.event);
    }
  });
  canvas.addEventListener("pointermove", (event) => {
    app.pointerTime = event.offsetX >= kGutter ? area.timeAt(event.offsetX, app.viewport) : null;
    moveTip(app, event);
  });
  canvas.addEventListener("pointerleave", () => {
    app.pointerTime = null;
    app.tip.hidden = true;
  });
}

function moveTip(app, event) {
  const { tip } = app;
  const hit = event.buttons === 0 ? app.timeline.hit(event.offsetX, event.offsetY) : null;
  tip.hidden = !hit;
  if (!hit) {
    return;
  }
  fillTip(app, tip, hit);
  const right = event.clientX + 16 + tip.offsetWidth > innerWidth;
  const below = event.clientY + 16 + tip.offsetHeight > innerHeight;
  tip.style.left = `${right ? event.clientX - 12 - tip.offsetWidth : event.clientX + 16}px`;
  tip.style.top = `${below ? Math.max(4, event.clientY - 12 - tip.offsetHeight) : event.clientY + 16}px`;
}

// A drag in the overview chooses the window; a click moves it there.
function attachOverview(app) {
  const area = app.areas.overview;
  const { canvas } = area;
  const whole = { t0: 0, span: app.viewport.duration };
  let from = null;
  canvas.addEventListener("pointerdown", (event) => {
    from = area.timeAt(event.offsetX, whole);
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (from !== null) {
      const to = area.timeAt(event.offsetX, whole);
      if (Math.abs(to - from) > (3 / area.plotWidth) * whole.span) {
        app.viewport.show(Math.min(from, to), Math.max(from, to));
        app.changed();
      }
    }
  });
  canvas.addEventListener("pointerup", (event) => {
    const to = area.timeAt(event.offsetX, whole);
    if (from !== null && Math.abs(to - from) <= (3 / area.plotWidth) * whole.span) {
      app.viewport.pan(to - (app.viewport.t0 + app.viewport.t1) / 2);
      app.changed();
    }
    from = null;
  });
}

function keyActions(app) {
  const { viewport } = app;
  const middle = () => (viewport.t0 + viewport.t1) / 2;
  return {
    ArrowLeft: () => viewport.pan(-viewport.span / 8),
    ArrowRight: () => viewport.pan(viewport.span / 8),
    ArrowUp: () => viewport.scrollTo(viewport.scroll - Math.max(40, viewport.rowHeight)),
    ArrowDown: () => viewport.scrollTo(viewport.scroll + Math.max(40, viewport.rowHeight)),
    PageUp: () => viewport.scrollTo(viewport.scroll - viewport.height * 0.9),
    PageDown: () => viewport.scrollTo(viewport.scroll + viewport.height * 0.9),
    "+": () => viewport.zoom(1.5, middle()),
    "=": () => viewport.zoom(1.5, middle()),
    "-": () => viewport.zoom(1 / 1.5, middle()),
    "]": () => viewport.zoomRows(1.25, viewport.height / 2),
    "[": () => viewport.zoomRows(0.8, viewport.height / 2),
    0: () => app.showAll(),
    Home: () => app.showAll(),
    Enter: () => app.selectNear(middle()),
    ".": () => app.step(1),
    ",": () => app.step(-1),
    u: () => app.goUp(),
    d: () => app.goDown(),
    z: () => app.selection && app.zoomTo(app.selection.event),
    b: () => app.goToBurst(1),
    B: () => app.goToBurst(-1),
    n: () => app.nextMatch(1),
    N: () => app.nextMatch(-1),
    m: () => addMark(app, app.pointerTime ?? middle()),
    a: () => app.setArrows(!app.showArrows),
    i: () => app.setInterval(viewport.t0 + viewport.span / 4, viewport.t1 - viewport.span / 4),
    p: () => savePicture(app),
    Escape: () => {
      app.setInterval(0, 0);
      app.select(-1);
    },
  };
}

function attachKeys(app) {
  const actions = keyActions(app);
  app.areas.timeline.canvas.addEventListener("keydown", (event) => {
    const action = actions[event.key];
    if (action && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      action();
      app.changed();
    }
  });
  document.addEventListener("keydown", (event) => {
    const typing = ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName);
    if (!typing && event.key === "/") {
      event.preventDefault();
      app.elements.search.focus();
    } else if (!typing && event.key === "?") {
      app.elements.help.showModal();
    }
  });
}
