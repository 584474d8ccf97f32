// The bars of a run, by lane and in the order of time, so that the bars of a window are found without looking at the rest.
import { passNames, waits, type GanttRun, type Pass } from '../data';

export interface Tracks {
  run: GanttRun;
  lanes: Int32Array[];  // the bars of each lane, in the order of time
  stores: boolean[];  // whether a bar is reading or writing a storage
  passes: Int8Array;  // the place among `passNames` of a bar that has a shade of its own; -1: the part's colour
  causes: Int8Array;  // of waiting; -1: the bar is no wait
}

const storageWork = ['read', 'checkpoint', 'restart'];
/** Whether a bar is reading or writing a storage: in a checkpoint and in a restart nothing else is communicated. */
export const stores = (run: GanttRun): boolean[] => run.name.map((name, bar) => run.kind[bar] === 1 && run.peer[bar] === null && storageWork.includes(run.names[name]));

/** Returns the pass of each bar of computing of a run on a mesh. */
export const passes = ({ kind, name, names, micro }: GanttRun): Int8Array =>
  Int8Array.from(kind, (each, bar) => (micro && each === 0 ? passNames.indexOf(names[name[bar]] as Pass) : -1));

const unknown = waits.length - 1;

/** Returns the cause of each bar of waiting. */
function causes({ kind, waits }: GanttRun): Int8Array {
  let seen = 0;
  return Int8Array.from(kind, (each) => (each === 2 ? Number(waits?.[seen++] ?? unknown) : -1));
}

export function tracks(run: GanttRun): Tracks {
  const lanes: number[][] = run.lanes.map(() => []);
  run.lane.forEach((lane, bar) => lanes[lane].push(bar));
  return { run, causes: causes(run), stores: stores(run), passes: passes(run), lanes: lanes.map((bars) => Int32Array.from(bars.sort((a, b) => run.from[a] - run.from[b]))) };
}

/** Returns the index in the lane of the first bar that ends after t: bars of a lane do not overlap. */
export function firstAfter({ run, lanes }: Tracks, lane: number, t: number): number {
  const bars = lanes[lane];
  let [low, high] = [0, bars.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (run.to[bars[middle]] > t) high = middle; else low = middle + 1;
  }
  return low;
}

/** Returns the bar of the lane at t, or within slack of t; -1: none. */
export function barAt(all: Tracks, lane: number, t: number, slack: number): number {
  const bars = all.lanes[lane];
  const place = firstAfter(all, lane, t - slack);
  let best = -1;
  for (let i = place; i < bars.length && all.run.from[bars[i]] <= t + slack; ++i) {
    best = bars[i];
    if (all.run.to[best] >= t) break;
  }
  return best;
}

/** Returns the seconds of each part in each of equal slices of an interval, over all lanes. */
export function slices({ run }: Tracks, from: number, to: number, count: number): Float64Array[] {
  const all = [0, 1, 2, 3].map(() => new Float64Array(count));
  const width = (to - from) / count;
  if (!(width > 0)) return all;
  run.kind.forEach((kind, bar) => {
    const [start, end] = [run.from[bar], run.to[bar]];
    const last = Math.min(count - 1, Math.floor((end - from) / width));
    for (let i = Math.max(0, Math.floor((start - from) / width)); i <= last; ++i)
      all[kind][i] += Math.max(0, Math.min(end, from + (i + 1) * width) - Math.max(start, from + i * width));
  });
  return all;
}
