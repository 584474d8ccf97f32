// Draws the bars of a run on a canvas: only those in the window, set as pixels, with names in bars that have room.
import { partColours, passColours, storageColour } from '../palette';
import { variable } from '../theme';
import { seconds } from '../format';
import { pixel, type Raster } from './raster';
import type { GanttRun } from '../data';
import { firstAfter, type Tracks } from './tracks';
import { ticks, type View } from './view';

export interface Geometry { width: number; height: number; gutter: number; top: number; row: number; dots: number }

/** Parts also differ in height: computing fills the lane, communicating less of it, waiting and being down are thin lines. */
const heights = [0.86, 0.6, 0.16, 0.36];

export const axisHeight = 24;
const mostNamed = 2000;

export function geometry(width: number, lanes: number, dots: number): Geometry {
  const row = Math.max(6, Math.min(20, Math.floor(360 / Math.max(lanes, 1))));
  return { width, gutter: width > 640 ? 132 : 74, top: axisHeight, row, height: axisHeight + row * lanes + 4, dots };
}

export const toX = (view: View, { gutter, width }: Geometry, t: number): number => gutter + ((t - view.from) / (view.to - view.from)) * (width - gutter);
export const toTime = (view: View, { gutter, width }: Geometry, x: number): number => view.from + ((x - gutter) / (width - gutter)) * (view.to - view.from);

/** Returns the place of the bar's colour: those of the parts, of storages, then of the passes. */
const colourOf = ({ run, stores, passes }: Tracks, bar: number): number => (passes[bar] >= 0 ? 5 + passes[bar] : stores[bar] ? 4 : run.kind[bar]);
export const barColours = (): string[] => [...partColours(), storageColour(), ...passColours()];
export const barColour = (all: Tracks, bar: number): string => barColours()[colourOf(all, bar)];

/** Sets the bars of a lane that are in the window, in device pixels. Returns their number. */
function bars(all: Tracks, lane: number, view: View, shape: Geometry, raster: Raster, colours: number[]): number {
  const { run } = all;
  const inLane = all.lanes[lane];
  const { dots, gutter } = shape;
  const scale = ((shape.width - gutter) / (view.to - view.from)) * dots;
  const [left, right, middle] = [Math.round(gutter * dots), Math.round(shape.width * dots), (shape.top + (lane + 0.5) * shape.row) * dots];
  const half = heights.map((share) => Math.max(1, (share * shape.row * dots) / 2));
  const first = firstAfter(all, lane, view.from);
  let i = first;
  for (; i < inLane.length && run.from[inLane[i]] < view.to; ++i) {
    const bar = inLane[i];
    const kind = run.kind[bar];
    const x = Math.max(left, left + Math.round((run.from[bar] - view.from) * scale));
    const end = Math.min(right, Math.max(x + 1, left + Math.round((run.to[bar] - view.from) * scale)));
    const gap = end - x > 3 * dots ? Math.round(dots) : 0;  // separates neighbouring bars of one kind
    raster.fill(x, end - gap, Math.round(middle - half[kind]), Math.round(middle + half[kind]), colours[colourOf(all, bar)]);
  }
  return i - first;
}

function frameAndTicks(context: CanvasRenderingContext2D, view: View, shape: Geometry): void {
  context.font = `11px ${variable('font')}`;
  context.textBaseline = 'middle';
  const span = view.to - view.from;
  for (const t of ticks(view.from, view.to, (shape.width - shape.gutter) / 110)) {
    const x = Math.round(toX(view, shape, t)) + 0.5;
    context.fillStyle = variable('rule');
    context.fillRect(x, shape.top - 4, 1, shape.height - shape.top + 4);
    context.fillStyle = variable('quiet');
    const text = seconds(t, Math.min(9, Math.max(4, Math.ceil(Math.log10(Math.max(Math.abs(t), span) / span)) + 3)));
    const half = context.measureText(text).width / 2;
    context.textAlign = 'center';
    context.fillText(text, Math.min(Math.max(x, shape.gutter + half), shape.width - half - 1), 9);
  }
}

function laneNames(context: CanvasRenderingContext2D, all: Tracks, shape: Geometry): void {
  const every = Math.ceil(12 / shape.row);
  context.textAlign = 'right';
  context.font = `${Math.min(12, Math.max(9.5, shape.row - 4))}px ${variable('font')}`;
  all.run.lanes.forEach((name, lane) => {
    const y = shape.top + (lane + 0.5) * shape.row;
    if (lane % 2 === 0) { context.fillStyle = variable('stripe'); context.fillRect(shape.gutter, y - shape.row / 2, shape.width - shape.gutter, shape.row); }
    if (lane % every !== 0) return;
    let text = shape.width > 640 ? name : name.replace(/ \(.*/, '');
    while (text.length > 4 && context.measureText(text).width > shape.gutter - 12) text = `${text.slice(0, -2)}…`;
    context.fillStyle = variable('ink');
    context.fillText(text, shape.gutter - 8, y);
  });
}

/** Returns whether one bar of a lane begins where the other ends. */
const touch = ({ from, to }: GanttRun, one: number, next: number): boolean => from[next] - to[one] <= 1e-6 * (to[next] - from[one]);

const paleShades = [0, 3];  // forward and recompute have dark letters

/** Returns the longest text for the bar that has room, and its width: its name with the number of its micro-batch, or that number; null: none has. */
function fitting(context: CanvasRenderingContext2D, { run, passes }: Tracks, bar: number, room: number): [string, number] | null {
  const name = run.names[run.name[bar]];
  const micro = passes[bar] >= 0 ? run.micro?.[bar] ?? null : null;
  const texts = micro === null ? (room < 26 ? [] : [name]) : [`${name} ${micro}`, String(micro)];
  for (const text of texts) {
    const { width } = context.measureText(text);
    if (width <= room) return [text, width];
  }
  return null;
}

/** Writes names inside the bars that have room for them. */
function barNames(context: CanvasRenderingContext2D, all: Tracks, view: View, shape: Geometry): void {
  if (shape.row < 13) return;
  context.textAlign = 'left';
  context.font = `10.5px ${variable('font')}`;
  for (let lane = 0; lane < all.lanes.length; ++lane) {
    const bars = all.lanes[lane];
    for (let i = firstAfter(all, lane, view.from); i < bars.length && all.run.from[bars[i]] < view.to; ++i) {
      const bar = bars[i];
      const kind = all.run.kind[bar];
      // A host that is down until its repair ends, and then until the others go on, has one name.
      let last = bar;
      while (kind === 3 && i + 1 < bars.length && all.run.kind[bars[i + 1]] === 3 && all.run.name[bars[i + 1]] === all.run.name[bar] && touch(all.run, last, bars[i + 1])) last = bars[++i];
      const [x, end] = [Math.max(shape.gutter, toX(view, shape, all.run.from[bar])), Math.min(shape.width, toX(view, shape, all.run.to[last]))];
      const text = kind === 2 ? null : fitting(context, all, bar, end - x - 8);
      if (!text) continue;
      const [name, width] = text;
      // The bar of a host that is down is lower than its name, which therefore stands on a ground of its own.
      if (kind === 3) { context.fillStyle = variable('surface'); context.fillRect(x + 2, shape.top + lane * shape.row + 1, width + 4, shape.row - 2); }
      context.fillStyle = kind === 3 ? variable('ink') : variable(kind === 0 && !paleShades.includes(all.passes[bar]) ? 'on-compute' : 'on-communicate');
      context.fillText(name, x + 4, shape.top + (lane + 0.5) * shape.row + 0.5);
    }
  }
}

/** Draws the run; marked is the bar with an outline (-1: none). Returns how many bars were in the window. */
export function draw(canvas: HTMLCanvasElement, raster: Raster, all: Tracks, view: View, shape: Geometry, marked: number): number {
  const context = canvas.getContext('2d')!;
  context.setTransform(shape.dots, 0, 0, shape.dots, 0, 0);
  context.clearRect(0, 0, shape.width, shape.height);
  context.textBaseline = 'middle';
  laneNames(context, all, shape);
  frameAndTicks(context, view, shape);
  raster.clear(canvas.width, canvas.height);
  const colours = barColours().map(pixel);
  let seen = 0;
  for (let lane = 0; lane < all.lanes.length; ++lane) seen += bars(all, lane, view, shape, raster, colours);
  raster.onto(context);
  if (seen < mostNamed) barNames(context, all, view, shape);
  if (marked >= 0) outline(context, all, view, shape, marked);
  return seen;
}

function outline(context: CanvasRenderingContext2D, all: Tracks, view: View, shape: Geometry, bar: number): void {
  const { run } = all;
  const [x, end] = [Math.max(shape.gutter, toX(view, shape, run.from[bar])), Math.min(shape.width, toX(view, shape, run.to[bar]))];
  context.strokeStyle = variable('ink');
  context.lineWidth = 1.5;
  context.strokeRect(x - 0.5, shape.top + run.lane[bar] * shape.row + 0.5, Math.max(end - x, 1) + 1, shape.row - 1);
}
