// The timeline: one row per rank, node or aggregator (rows.js). Tall rows show nested spans in
// lanes; thin rows show the innermost state; rows of several ranks show how many are in each state.
// Spans are painted into pixels (raster.js); only text, outlines and links are drawn.
import * as format from "../format.js";
import { counterOf } from "../run/rows.js";
import { stateSeries } from "../run/series.js";
import { drawArrows, drawTies } from "./arrows.js";
import { kGutter } from "./canvas_area.js";
import { inkOn } from "./palette.js";
import { LinePainter, Paints, paintLane, paintSegments, paintStack } from "./raster.js";
import { RowLevels } from "./row_levels.js";

export const kAxisHeight = 22;
const kLeastLane = 3;
const kMostLane = 44;
const kLabelLane = 12;
const kMostLabelled = 3000;
const kMostGroupSums = 8e6;

export class Timeline {
  constructor(app, area) {
    this.app = app;
    this.area = area;
    this.recolor();
  }

  recolor() {
    const { palette } = this.app;
    this.painter = new LinePainter(new Paints(palette.rgb, palette.rowGround));
  }

  // How rows are drawn at this height: lanes of so many pixels, or 0 for the innermost state only.
  // Where there is room for all lanes of the strand with the most, every strand's lanes fill its
  // row.
  laneHeight(row) {
    const { viewport, model } = this.app;
    const room = viewport.rowHeight - (viewport.rowHeight >= 8 ? 2 : 0);
    if (row.strands.length !== 1 || Math.floor(room / model.maxLanes) < kLeastLane) {
      return 0;
    }
    return Math.min(kMostLane, Math.floor(room / Math.max(1, model.laneCount[row.strands[0]])));
  }

  draw() {
    const { app, area } = this;
    area.clear(app.palette.ground);
    this.paintRows();
    this.drawAxis();
    this.drawRowLabels();
    this.clipped(() => this.drawSpanLabels());
    this.clipped(() => this.drawSelection());
    this.arrowCount = app.showArrows ? this.clipped(() => drawArrows(app, this)) : 0;
  }

  // Draws what must not reach into the labels.
  clipped(draw) {
    const { context, plotWidth, height } = this.area;
    context.save();
    context.beginPath();
    context.rect(kGutter, kAxisHeight, plotWidth, height - kAxisHeight);
    context.clip();
    const result = draw();
    context.restore();
    return result;
  }

  paintRows() {
    const { app, area } = this;
    const { viewport } = app;
    const deviceRows = area.canvas.height - Math.round(kAxisHeight * area.scale);
    const words = area.pixels(deviceRows);
    const [r, g, b] = app.palette.rowGround;
    words.fill(((255 << 24) | (b << 16) | (g << 8) | r) >>> 0);
    const first = Math.max(0, Math.floor(viewport.scroll / viewport.rowHeight));
    const last = Math.min(app.rows.length, Math.ceil((viewport.scroll + viewport.height) / viewport.rowHeight));
    for (let index = first; index < last; ++index) {
      const top = Math.round((index * viewport.rowHeight - viewport.scroll) * area.scale);
      const bottom = Math.round(((index + 1) * viewport.rowHeight - viewport.scroll) * area.scale);
      this.paintRow(words, app.rows[index], Math.max(top, -1e6), Math.min(bottom, 1e6), deviceRows);
    }
    area.put(kAxisHeight);
  }

  paintRow(words, row, top, bottom, deviceRows) {
    const { app, area } = this;
    const { viewport, model } = app;
    const perPixel = viewport.span / area.deviceWidth;
    const gap = viewport.rowHeight >= 8 ? Math.round(2 * area.scale) : 0;
    const lane = this.laneHeight(row);
    if (row.strands.length > 1) {
      this.paintGroup(words, row, top, bottom - gap, deviceRows);
      return;
    }
    const [strand] = row.strands;
    if (lane === 0) {
      this.paintStrip(words, top, bottom - gap, deviceRows, (line) => this.paintThin(line, strand, perPixel));
      return;
    }
    for (let depth = 0; depth < model.laneCount[strand]; ++depth) {
      const y = top + Math.round(depth * lane * area.scale);
      const edge = lane >= 8 ? 1 : 0;
      this.paintStrip(words, y, top + Math.round((depth + 1) * lane * area.scale) - edge, deviceRows, (line) =>
        paintLane(this.painter, line, app.paintedLanes, model.firstLane[strand] + depth, viewport.t0, perPixel),
      );
    }
  }

  // The innermost states of a strand: from the levels when a pixel has many spans, else
  // from the spans.
  paintThin(line, strand, perPixel) {
    const { model, viewport, paintedSegments } = this.app;
    if (this.levels?.painted !== paintedSegments) {
      this.levels = new RowLevels(model.kinds.length, paintedSegments, model.strandCount, model.duration);
    }
    if (!this.levels.paint(line, this.painter.paints.shades, strand, viewport.t0, perPixel)) {
      paintSegments(this.painter, line, paintedSegments, strand, viewport.t0, perPixel);
    }
  }

  // Paints one line and repeats it over the rows [top, bottom) that are on the screen.
  paintStrip(words, top, bottom, deviceRows, paint) {
    const width = this.area.deviceWidth;
    const from = Math.max(0, top);
    const to = Math.min(deviceRows, bottom);
    if (from >= to) {
      return;
    }
    const line = words.subarray(from * width, (from + 1) * width);
    paint(line);
    for (let y = from + 1; y < to; ++y) {
      words.copyWithin(y * width, from * width, (from + 1) * width);
    }
  }

  paintGroup(words, row, top, bottom, deviceRows) {
    const { app, area } = this;
    const { viewport, palette } = app;
    const from = Math.max(0, top);
    const to = Math.min(deviceRows, bottom);
    if (from >= to) {
      return;
    }
    const width = area.deviceWidth;
    const sums = this.groupSeries(row).columns(viewport.t0, viewport.t1, width);
    const full = (viewport.span / width) * row.strands.length;
    const height = bottom - top;
    const whole = new Uint32Array(width * height).fill(words[from * width]);
    paintStack(whole, width, height, sums, { colors: palette.packed, order: palette.order, full });
    words.set(whole.subarray((from - top) * width, (to - top) * width), from * width);
  }

  // The sums of a row of several ranks, made when the row is first seen. The more such rows, the
  // coarser they are.
  groupSeries(row) {
    const { model, segments, rows } = this.app;
    if (row.segments !== segments) {
      const most = kMostGroupSums / (rows.length * model.kinds.length);
      const buckets = 2 ** Math.max(6, Math.min(12, Math.floor(Math.log2(most))));
      Object.assign(row, { segments, series: stateSeries(model, segments, row.strands, buckets) });
    }
    return row.series;
  }

  drawAxis() {
    const { app, area } = this;
    const { context } = area;
    const { viewport, palette } = app;
    const { origin, labels } = format.timeTicks(viewport.t0, viewport.t1, area.plotWidth / 110);
    context.strokeStyle = palette.line;
    context.fillStyle = palette.muted;
    for (const { at, text } of labels) {
      const x = Math.round(area.xOf(at, viewport)) + 0.5;
      context.beginPath();
      context.moveTo(x, kAxisHeight - 5);
      context.lineTo(x, kAxisHeight);
      context.stroke();
      const width = context.measureText(text).width;
      context.fillText(text, Math.max(kGutter, Math.min(area.width - width, x - width / 2)), kAxisHeight / 2 - 2);
    }
    area.label(origin > 0 ? format.moment(origin) : "time", kAxisHeight / 2 - 2, palette.muted);
  }

  drawRowLabels() {
    const { app, area } = this;
    const { viewport, palette, counter } = app;
    const step = format.roundStep(13 / viewport.rowHeight);
    const first = Math.floor(viewport.scroll / viewport.rowHeight / step) * step;
    const most = counter ? Math.max(1, ...app.rows.map((row) => counterOf(counter, row))) : 1;
    for (let index = first; index < app.rows.length; index += step) {
      const y = kAxisHeight + index * viewport.rowHeight - viewport.scroll;
      const middle = y + Math.max(Math.min(viewport.rowHeight, 28) / 2, index === 0 ? 6 : 0);
      if (middle > area.height - 5) {
        break;
      }
      if (middle < kAxisHeight + 4) {
        continue;
      }
      const row = app.rows[index];
      if (counter) {
        area.context.fillStyle = palette.line;
        const share = counterOf(counter, row) / most;
        area.context.fillRect(0, y, (kGutter - 4) * share, Math.max(1, Math.min(viewport.rowHeight * step, 28) - 2));
      }
      const chosen = app.selection && row.strands.includes(app.model.strand[app.selection.event]);
      area.label(row.label, middle, chosen ? palette.accent : palette.muted);
    }
  }

  // Names inside the boxes that are wide enough.
  drawSpanLabels() {
    const { app, area } = this;
    const { viewport, model, palette } = app;
    let looked = 0;
    this.eachVisibleLane((strand, depth, y, lane) => {
      if (lane < kLabelLane || looked > kMostLabelled) {
        return;
      }
      const index = model.firstLane[strand] + depth;
      for (let p = model.firstVisible(index, viewport.t0); p < model.laneStart[index + 1] && looked <= kMostLabelled; ++p) {
        const event = model.laneEvents[p];
        if (model.begin[event] >= viewport.t1) {
          break;
        }
        ++looked;
        if (app.hidden[model.kind[event]]) {
          continue;
        }
        const left = Math.max(kGutter, area.xOf(model.begin[event], viewport));
        const right = Math.min(area.width, area.xOf(model.end[event], viewport));
        if (right - left > 34) {
          const dimmed = app.emphasis && !app.emphasis[event];
          area.context.fillStyle = dimmed ? palette.muted : inkOn(palette.rgb[model.kind[event]]);
          this.fitText(this.spanText(event), left + 5, y + lane / 2, right - left - 9);
        }
      }
    });
  }

  spanText(event) {
    const { model } = this.app;
    const bytes = model.columns.bytes[event];
    const dataset = model.named("datasets", "dataset", event);
    return [model.kindName(event), dataset, bytes >= 0 ? format.bytes(bytes) : ""].filter(Boolean).join("  ");
  }

  fitText(text, x, y, room) {
    const { context } = this.area;
    const words = text.split("  ");
    while (words.length > 1 && context.measureText(words.join("  ")).width > room) {
      words.pop();
    }
    if (context.measureText(words[0]).width <= room) {
      context.fillText(words.join("  "), x, y);
    }
  }

  // Calls visit(strand, depth, y, laneHeight) for the lanes on the screen.
  eachVisibleLane(visit) {
    const { viewport, model, rows } = this.app;
    const first = Math.max(0, Math.floor(viewport.scroll / viewport.rowHeight));
    const last = Math.min(rows.length, Math.ceil((viewport.scroll + viewport.height) / viewport.rowHeight));
    for (let index = first; index < last; ++index) {
      const lane = this.laneHeight(rows[index]);
      if (lane === 0) {
        continue;
      }
      const [strand] = rows[index].strands;
      for (let depth = 0; depth < model.laneCount[strand]; ++depth) {
        visit(strand, depth, kAxisHeight + index * viewport.rowHeight - viewport.scroll + depth * lane, lane);
      }
    }
  }

  // Where an event is on the screen, in CSS pixels, or null when its row is not shown.
  boxOf(event) {
    const { viewport, model, rowOfStrand } = this.app;
    const index = rowOfStrand[model.strand[event]];
    if (index < 0) {
      return null;
    }
    const lane = this.laneHeight(this.app.rows[index]);
    const top = kAxisHeight + index * viewport.rowHeight - viewport.scroll;
    const left = this.area.xOf(model.begin[event], viewport);
    const width = Math.max(1, this.area.xOf(model.end[event], viewport) - left);
    return { left, width, top: top + model.lane[event] * lane, height: lane || Math.max(1, viewport.rowHeight) };
  }

  drawSelection() {
    const { app, area } = this;
    if (!app.selection) {
      return;
    }
    const { context } = area;
    const box = this.boxOf(app.selection.event);
    if (box) {
      context.strokeStyle = app.palette.accent;
      context.lineWidth = 2;
      context.strokeRect(box.left, box.top, box.width, box.height - 1);
      context.lineWidth = 1;
      context.globalAlpha = 0.55;
      for (const event of app.selection.elsewhere.slice(0, 64)) {
        this.drawLink(box, this.boxOf(event));
      }
      context.globalAlpha = 1;
    }
    drawTies(app, this);
  }

  drawLink(from, to) {
    if (!to) {
      return;
    }
    const { context } = this.area;
    const [x0, y0] = [from.left + from.width / 2, from.top + from.height / 2];
    const y1 = to.top + to.height / 2;
    context.beginPath();
    context.moveTo(x0, y0);
    context.bezierCurveTo(x0, (y0 + y1) / 2, to.left, (y0 + y1) / 2, to.left, y1);
    context.stroke();
  }

  // The event under a point of the canvas, or {row} alone where there is none.
  hit(x, y) {
    const { app, area } = this;
    const { viewport, model } = app;
    if (x < kGutter || y < kAxisHeight) {
      return null;
    }
    const index = viewport.rowAt(y - kAxisHeight);
    if (index < 0) {
      return null;
    }
    const [row, time] = [app.rows[index], area.timeAt(x, viewport)];
    if (row.strands.length > 1) {
      return { row, time, event: -1 };
    }
    const tolerance = (viewport.span / area.plotWidth) * 1.5;
    const [strand] = row.strands;
    const lane = this.laneHeight(row);
    const depth = lane > 0 ? Math.floor((y - kAxisHeight - (index * viewport.rowHeight - viewport.scroll)) / lane) : -1;
    return { row, time, event: this.eventIn(strand, depth, time, tolerance) };
  }

  eventIn(strand, depth, time, tolerance) {
    const { model, hidden } = this.app;
    const lanes = depth >= 0 ? [depth] : [...Array(model.laneCount[strand]).keys()].reverse();
    for (const lane of lanes.filter((l) => l < model.laneCount[strand])) {
      const event = model.eventAt(model.firstLane[strand] + lane, time, tolerance);
      if (event >= 0 && !hidden[model.kind[event]]) {
        return event;
      }
    }
    return -1;
  }
}
