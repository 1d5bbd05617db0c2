// The charts as one PNG: title, charts with their headings, and the legend of what is in view.
const kPad = 16;
const kLine = 20;
const kState = 250; // pixels of the legend

// Returns as much of a text as fits, with a sign that there was more.
function cut(text, fits) {
  let length = text.length;
  while (length > 0 && !fits(length < text.length ? `${text.slice(0, length)}…` : text)) {
    --length;
  }
  return length < text.length ? `${text.slice(0, length)}…` : text;
}

export function pictureOf(app) {
  const scale = globalThis.devicePixelRatio || 1;
  // Prettier-ignore.
  const areas = [["", "overview"], ["Ranks in each state", "states"], [app.trackName(), "bandwidth"], ["Sizes of storage requests", "sizes"],
    ["Timeline", "timeline"]].map(([title, id]) => ({ title, area: app.areas[id] }));
  const width = areas[0].area.width;
  const states = [...app.legendButtons].filter(([, button]) => !button.closest("li").hidden);
  const perLine = Math.max(1, Math.floor(width / kState));
  const legend = Math.ceil(states.length / perLine) * kLine;
  const height = areas.reduce((sum, { area }) => sum + area.height + kLine, 0) + 2 * kLine + legend + 2 * kPad;
  const canvas = Object.assign(document.createElement("canvas"), { width: (width + 2 * kPad) * scale, height: height * scale });
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  context.fillStyle = app.palette.ground;
  context.fillRect(0, 0, width + 2 * kPad, height);
  context.textBaseline = "middle";
  const write = (text, x, y, font) => {
    context.font = `${font} system-ui, "DejaVu Sans", sans-serif`;
    context.fillStyle = app.palette.ink;
    context.fillText(text, x, y);
  };
  const line = (text, y, font) => {
    context.font = `${font} system-ui, "DejaVu Sans", sans-serif`;
    write(cut(text, (part) => context.measureText(part).width <= width), kPad, y, font);
  };
  let y = kPad + kLine / 2;
  line(app.elements.program.textContent, y, "600 15px");
  line(app.elements.facts.textContent, (y += kLine), "12px");
  y += kLine / 2;
  for (const { title, area } of areas) {
    write(title, kPad + 118, y + kLine / 2, "600 12px");
    context.drawImage(area.canvas, kPad, y + kLine, area.width, area.height);
    y += kLine + area.height;
  }
  states.forEach(([kind, button], index) => {
    const x = kPad + (index % perLine) * kState;
    const middle = y + kLine * (Math.floor(index / perLine) + 0.7);
    context.fillStyle = app.palette.css[kind];
    context.fillRect(x, middle - 6, 12, 12);
    write(`${app.model.kinds[kind].name} ${button.querySelector(".share").textContent}`, x + 18, middle, "12px");
  });
  return canvas;
}

export function savePicture(app) {
  pictureOf(app).toBlob((blob) => {
    const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: "timeline.png" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }, "image/png");
}
