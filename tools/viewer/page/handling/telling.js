// What the page says in words: its title, what is in view, and a summary for screen readers. These
// are methods of the page's App.
import * as format from "../format.js";
import { burstText, isIo } from "../run/bursts.js";

const kMostNamed = 3;
const kPeakColumns = 500;

function plural(count, word) {
  return `${format.count(count)} ${word}${count === 1 ? "" : "s"}`;
}

function baseName(path) {
  return path.slice(path.lastIndexOf("/") + 1);
}

// "chk_0000, chk_0001 and 6 more"
function listed(names) {
  const some = names.slice(0, kMostNamed).join(", ");
  return names.length > kMostNamed ? `${some} and ${names.length - kMostNamed} more` : some;
}

export const telling = {
  fillHeader() {
    const { header } = this.model;
    const [program, ...rest] = (header.command || header.program || "Trace").split(" ");
    const title = [baseName(program), ...rest].join(" ");
    this.elements.program.textContent = title;
    this.elements.program.title = header.command || title;
    document.title = `${title} – timeline`;
    const files = header.files.filter(Boolean).map(baseName);
    const facts = [
      plural(header.ranks, "rank"),
      plural(header.nodes.length, "node"),
      format.time(header.duration_ns),
      plural(header.events, "span"),
      header.start,
      files.length > 0 ? `${plural(files.length, "file")}: ${listed(files)}` : "",
    ];
    this.elements.facts.textContent = facts.filter(Boolean).join(" · ");
    this.elements.facts.title = header.files.join("\n");
    this.elements.notices.replaceChildren(
      ...header.notices.map((notice) => {
        const line = document.createElement("p");
        line.textContent = notice;
        return line;
      }),
    );
    this.elements.notices.hidden = header.notices.length === 0;
    for (const [index, { name }] of this.counters.entries()) {
      this.elements.sort.add(new Option(name, String(index)));
    }
  },

  // Nanoseconds of the ranks in each state of the window, those in I/O, of what is in flight, and
  // of the states of threads in the background.
  timesInView() {
    const { t0, t1 } = this.viewport;
    const states = this.states.sums(t0, t1);
    const io = this.model.kinds.reduce((sum, kind, index) => sum + (isIo(kind) ? states[index] : 0), 0);
    return { states, io, flights: this.flights.sums(t0, t1), backgrounds: this.backgrounds.sums(t0, t1) };
  },

  // Says in words what the charts show, for screen readers.
  summarize() {
    const { viewport, model } = this;
    const sums = this.states.sums(viewport.t0, viewport.t1);
    const whole = viewport.span * model.rankCount;
    const shares = model.kinds
      .map((kind, index) => ({ name: kind.name, share: sums[index] / whole }))
      .filter(({ share }) => share >= 0.001)
      .sort((a, b) => b.share - a.share)
      .slice(0, 6)
      .map(({ name, share }) => `${name} ${format.percent(share)}`);
    this.elements.extent.textContent = [burstText(viewport, this.bursts), this.filesInView(), this.extent()].filter(Boolean).join(" · ");
    const moved = this.requests.bandwidth.sums(viewport.t0, viewport.t1);
    const text = [
      `Showing ${format.moment(viewport.t0)} to ${format.moment(viewport.t1)} of ${format.moment(model.duration)},`,
      `${format.count(model.rankCount)} ranks, ${format.count(this.rows.length)} rows by ${this.grouping}.`,
      ...(this.extent() ? [`On the screen: ${this.extent()}.`] : []),
      `Time of the ranks: ${shares.join(", ") || "no span"}.`,
      `Read ${format.bytes(moved[0])}, written ${format.bytes(moved[1])}; at most ${format.rate(this.peakBandwidth(), 1e9) || "0 MB/s"}.`,
    ].join(" ");
    this.elements.summary.textContent = text;
    this.elements.timeline.setAttribute("aria-label", `Timeline. ${text}`);
  },

  // The most bytes per second, read or written, in any part of the window.
  peakBandwidth() {
    const { t0, t1, span } = this.viewport;
    const sums = this.requests.bandwidth.columns(t0, t1, kPeakColumns);
    return sums.reduce((a, b) => Math.max(a, b), 0) * (1e9 / (span / kPeakColumns));
  },

  trackName() {
    return this.elements.track.selectedOptions[0].textContent;
  },

  filesInView() {
    const { t0, t1 } = this.viewport;
    const { begin, end, header, count } = this.model;
    const { file } = this.model.columns;
    const seen = new Set();
    for (let i = 0; i < count; ++i) {
      if (file[i] >= 0 && end[i] > t0 && begin[i] < t1) {
        seen.add(file[i]);
      }
    }
    return listed([...seen].sort((a, b) => a - b).map((index) => baseName(header.files[index] ?? "")));
  },

  // Returns which rows are on the screen, unless all are.
  extent() {
    const { viewport } = this;
    const first = Math.floor(viewport.scroll / viewport.rowHeight) + 1;
    const last = Math.min(viewport.rowCount, Math.ceil((viewport.scroll + viewport.height) / viewport.rowHeight));
    const all = first === 1 && last === viewport.rowCount;
    return all ? "" : `rows ${format.count(first)} to ${format.count(last)} of ${format.count(viewport.rowCount)}; Shift and the wheel scroll`;
  },
};
