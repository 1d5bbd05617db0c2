// Colours of the states. Calls of the application and of libraries are greys, so that the phases and requests inside them stand out. The
// nine hues start from Paul Tol's "muted" scheme and were moved apart until every pair of them, and each of them and the greys,
// can be told apart with protanopia, deuteranopia and tritanopia (Machado et al. 2009); the page's tests check that they still can.

const kHues = {
  light: ["#332288", "#93d7f7", "#c8557f", "#58b193", "#0d8444", "#d9c179", "#b61d95", "#959b35", "#81115c"],
  dark: ["#538fd3", "#97cdfc", "#f87889", "#45b08c", "#1f942f", "#f6b385", "#e13e9a", "#c2b71f", "#9a3c93"],
};
const kGreys = {
  light: { app: "#e3e7ec", library: "#c9d0da", engine: "#9aa5b5", storage: "#9aa5b5" },
  dark: { app: "#333b48", library: "#4a5464", engine: "#6b778a", storage: "#6b778a" },
};
const kGround = { light: "#ffffff", dark: "#161a21" };
const kRowGround = { light: "#f6f7f9", dark: "#1b2028" };

// Which hue a kind takes, by the words in its name: the same phase has the same colour in every run.
const kHueOfWord = [
  ["write", 0], ["read", 1], ["sync", 2], ["unpack", 4], ["pack", 3], ["exchange", 7], ["send", 7], ["receive", 7],
  ["broadcast", 5], ["reduce", 5], ["gather", 5],
  ["wait", 5], ["barrier", 5], ["queue", 5], ["plan", 6], ["commit", 6], ["share", 7], ["metadata", 8], ["open", 8], ["close", 8],
  ["resize", 8], ["reserve", 8], ["name", 8], ["disk", 0],
]; // prettier-ignore

function toRgb(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

function hueOf(kind) {
  if (kind.level === "app" || kind.level === "library") {
    return undefined;
  }
  return kHueOfWord.find(([word]) => kind.name.toLowerCase().includes(word))?.[1];
}

function mixed(color, ground, share) {
  const [a, b] = [toRgb(color), toRgb(ground)];
  return `#${a.map((v, i) => Math.round(b[i] + (v - b[i]) * share).toString(16).padStart(2, "0")).join("")}`;
}

// A phase that stands around storage requests of its own colour is a tint of it.
function colorOf(kind, kinds, theme) {
  const hue = hueOf(kind);
  if (hue === undefined) {
    return kGreys[theme][kind.level] ?? kGreys[theme].engine;
  }
  const around = kind.level === "engine" && kinds.some((other) => other.level === "storage" && hueOf(other) === hue);
  return around ? mixed(kHues[theme][hue], kGround[theme], 0.6) : kHues[theme][hue];
}

// In stacks, what is nearest the device is at the bottom.
const kHeight = { storage: 0, engine: 1, library: 2, app: 3 };

// {css, rgb} for each kind, and the grounds, of a theme: "light" or "dark".
export function makePalette(kinds, theme) {
  const css = kinds.map((kind) => colorOf(kind, kinds, theme));
  return {
    css,
    all: [...kHues[theme], ...new Set(Object.values(kGreys[theme]))],
    rgb: css.map(toRgb),
    packed: Uint32Array.from(css, (color) => {
      const [r, g, b] = toRgb(color);
      return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
    }),
    order: [...kinds.keys()].sort((a, b) => kHeight[kinds[a].level] - kHeight[kinds[b].level] || a - b),
    rowGround: toRgb(kRowGround[theme]),
    ground: kGround[theme],
    write: kHues[theme][0],
    read: kHues[theme][1],
    ink: theme === "dark" ? "#e4e8ef" : "#1f2733",
    muted: theme === "dark" ? "#8d97a8" : "#667085",
    line: theme === "dark" ? "#2a313c" : "#e4e7ec",
    accent: theme === "dark" ? "#ffffff" : "#0b1020",
  };
}

// Black or white, whichever is read better on a colour (relative luminance of WCAG 2).
export function inkOn([r, g, b]) {
  const linear = [r, g, b].map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] > 0.18 ? "#10151d" : "#ffffff";
}
