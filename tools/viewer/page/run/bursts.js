// Stretches of the run in which any rank does I/O. A run that computes for minutes and writes for
// milliseconds would show a few hairlines as a whole. So the page opens on its longest burst, and
// steps from one to the next.

const kNear = 0.004; // bursts that are nearer than this share of the run are one
const kMargin = 0.06; // a share of a burst, shown on both sides of it
const kBusy = 0.4; // a run that does I/O for longer than this share is shown whole

const kIoCall = /^(File::|Dataset::|MPI_File_|H5|ncmpi_|nc_)/;

// A program's own regions are not I/O.
export function isIo(kind) {
  return kind.level !== "app" || kIoCall.test(kind.name);
}

// [{begin, end, io}] in order of time; io: nanoseconds of ranks in I/O.
export function findBursts(model, states) {
  const [finest] = states.levels;
  const { channels, width } = states;
  const io = model.kinds.map(isIo);
  const bursts = [];
  for (let bucket = 0; bucket < finest.length / channels; ++bucket) {
    let sum = 0;
    for (let channel = 0; channel < channels; ++channel) {
      sum += io[channel] ? finest[bucket * channels + channel] : 0;
    }
    if (sum > 0) {
      const begin = bucket * width;
      const last = bursts.at(-1);
      if (last && begin - last.end <= kNear * model.duration) {
        last.end = begin + width;
        last.io += sum;
      } else {
        bursts.push({ begin, end: begin + width, io: sum });
      }
    }
  }
  return bursts;
}

export function showBurst(viewport, burst) {
  const margin = (burst.end - burst.begin) * kMargin;
  viewport.show(burst.begin - margin, burst.end + margin);
}

// The burst on which the page opens; none where the run is busy enough to be shown whole.
export function firstBurst(model, bursts) {
  const busy = bursts.reduce((sum, burst) => sum + burst.end - burst.begin, 0);
  return busy < kBusy * model.duration ? bursts.reduce((a, b) => (a && a.io >= b.io ? a : b), null) : null;
}

// The next burst behind the middle of the window, or the one before it; the last and
// the first stay.
export function nextBurst({ t0, t1 }, bursts, direction) {
  const middle = (t0 + t1) / 2;
  const shown = (burst) => burst.begin <= middle && middle <= burst.end && t1 - t0 <= 2 * (burst.end - burst.begin);
  if (direction > 0) {
    return bursts.find((burst) => !shown(burst) && burst.end > middle) ?? bursts.at(-1);
  }
  return bursts.findLast((burst) => !shown(burst) && burst.begin < middle) ?? bursts[0];
}

// "burst 2 of 8" where the window shows exactly one burst.
export function burstText({ t0, t1 }, bursts) {
  const inView = [...bursts.keys()].filter((i) => bursts[i].end > t0 && bursts[i].begin < t1);
  return inView.length === 1 && bursts.length > 1 ? `burst ${inView[0] + 1} of ${bursts.length}` : "";
}
