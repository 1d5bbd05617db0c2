// Colours of the states: one for each kind that Stria records, the same in every run. Calls of the
// application are greys, so that the phases and requests inside them stand out; relatives (a phase
// and its storage requests, the ways of waiting) have neighbouring hues.
//
// They started from hues of Paul Tol's "muted" scheme, and were moved apart until all of them and
// the ground can be told apart with protanopia, deuteranopia and tritanopia (Machado et al. 2009).
// The page's tests check that they still can.

// [kind, in light, in dark]
const kStates = [
  ["storage write", "#332187", "#4781e9"],
  ["write", "#8c87cf", "#274e85"],
  ["storage write behind", "#5c4fc1", "#729df7"],
  ["storage read", "#42a9e8", "#96cefc"],
  ["read", "#a6d9f6", "#77a4cd"],
  ["storage sync", "#9b2155", "#f87781"],
  ["sync", "#dd81a4", "#9f3d56"],
  ["pack", "#45a882", "#41bea5"],
  ["unpack", "#268140", "#0f923f"],
  ["exchange", "#9b9c30", "#b4ab1c"],
  ["send", "#646818", "#7b7c26"],
  ["receive", "#c6cb58", "#dbe16f"],
  ["share memory", "#704103", "#815415"],
  ["message wait", "#e1c271", "#cfaa4d"],
  ["barrier", "#efa02f", "#ffaf6b"],
  ["broadcast", "#f4dea8", "#fff0c1"],
  ["reduce", "#d2a65e", "#c48c3b"],
  ["gather", "#b16c1b", "#c17545"],
  ["turn wait", "#fff383", "#f6e754"],
  ["background write", "#7a24dc", "#8a3cfc"],
  ["background end", "#c63cf6", "#ae66c6"],
  ["background wait", "#c0a8de", "#c0a8fc"],
  ["commit", "#b52799", "#e13c9a"],
  ["plan", "#d05dc4", "#eb84d7"],
  ["metadata", "#7f0e5b", "#a2449e"],
  ["open", "#bc556b", "#b55479"],
  ["storage open", "#490828", "#7a1f48"],
  ["storage close", "#8c4a4d", "#ad6a6e"],
  ["storage reserve", "#d49297", "#cd9299"],
  ["storage resize", "#efb7af", "#fac3bd"],
  ["storage name", "#db493c", "#d64d2f"],
  ["File::commit", "#869fbd", "#707e93"],
  ["File::create", "#9eacbc", "#5a686a"],
  ["Dataset::put", "#5a677c", "#a3b1c6"],
  ["Dataset::get", "#6c7d96", "#8297b0"],
  ["File::open", "#b3c4d6", "#455168"],
  ["File::flush", "#41536d", "#cad2e2"],
  ["File::verify", "#262f40", "#e6ebf3"],
  ["File::close", "#ced7e0", "#4b6281"],
]; // prettier-ignore
const kLight = 1;
const kDark = 2;
const kGround = { light: "#ffffff", dark: "#161a21" };
const kRowGround = { light: "#f6f7f9", dark: "#1b2028" };

// Kinds of other libraries and a program's own regions take a colour that no kind of the run has.
// If a word in the name tells a relative, it is a relative's colour; else it comes from the end of
// the list, where the greys are.
const kRelatives = [
  ["write", "write"], ["put", "write"], ["read", "read"], ["get", "read"], ["sync", "sync"], ["flush", "sync"], ["wait", "wait"], ["open", "open"],
  ["create", "open"], ["close", "close"],
]; // prettier-ignore

function toRgb(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

function freeFor(kind, free) {
  const word = kRelatives.find(([part]) => kind.name.toLowerCase().includes(part))?.[1];
  const relative = word === undefined ? undefined : free.find(([name]) => name.includes(word));
  return relative ?? free.at(-1) ?? kStates[kind.name.length % kStates.length];
}

// The colour of each kind, in the order of `kinds`.
function colorsOf(kinds, column) {
  const byName = new Map(kStates.map((state) => [state[0], state]));
  const free = kStates.filter(([name]) => !kinds.some((kind) => kind.name === name && kind.occurs));
  return kinds.map((kind) => {
    let state = byName.get(kind.name);
    if (!state) {
      state = freeFor(kind, free);
      if (kind.occurs && free.includes(state)) {
        free.splice(free.indexOf(state), 1);
      }
    }
    return state[column];
  });
}

// What is nearest to the device is at the bottom of stacks.
const kHeight = { storage: 0, engine: 1, library: 2, app: 3 };

// {css, rgb} for each kind and for the grounds, in a theme: "light" or "dark".
export function makePalette(kinds, theme) {
  const column = theme === "dark" ? kDark : kLight;
  const colorOf = (name) => kStates.find((state) => state[0] === name)[column];
  const css = colorsOf(kinds, column);
  return {
    css,
    all: kStates.map((state) => state[column]),
    rgb: css.map(toRgb),
    packed: Uint32Array.from(css, (color) => {
      const [r, g, b] = toRgb(color);
      return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
    }),
    order: [...kinds.keys()].sort((a, b) => kHeight[kinds[a].level] - kHeight[kinds[b].level] || a - b),
    rowGround: toRgb(kRowGround[theme]),
    ground: kGround[theme],
    write: colorOf("storage write"),
    read: colorOf("storage read"),
    message: colorOf("receive"),
    wait: colorOf("barrier"),
    ink: theme === "dark" ? "#e4e8ef" : "#1f2733",
    muted: theme === "dark" ? "#8d97a8" : "#667085",
    line: theme === "dark" ? "#2a313c" : "#e4e7ec",
    accent: theme === "dark" ? "#ffffff" : "#0b1020",
  };
}

// Black or white, whichever is easier to read on a colour (relative luminance of WCAG 2).
export function inkOn([r, g, b]) {
  const linear = [r, g, b].map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] > 0.18 ? "#10151d" : "#ffffff";
}
