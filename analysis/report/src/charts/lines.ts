// Lines of strategies with confidence bands, for all charts of this kind.
import { axis, frame, logTicks, tip, tooltip, zoom, zooms, type AxisSettings } from '../axes';
import type { N } from '../data';
import { h } from '../dom';
import type { Option } from '../echarts';
import { nudges, parted } from './nudge';
import { colour, dash, symbol } from '../palette';
import type { Plot } from '../plot';
import { variable } from '../theme';

/** short: the text at the end of the line, if it differs from text. */
export interface Line { strategy: number; text: string; short?: string; x: N[]; y: N[]; low?: N[] | null; high?: N[] | null; marks?: boolean }

type Point = [number, number];

/** Returns the points that can be drawn: a logarithmic axis needs positive numbers. */
export function points({ x, y }: Line, logX: boolean, logY: boolean): Point[] {
  const all: Point[] = [];
  for (let i = 0; i < x.length; ++i) {
    const [a, b] = [x[i], y[i]];
    if (a === null || b === null || (logX && a <= 0) || (logY && b <= 0)) continue;
    all.push([a, b]);
  }
  return all;
}

/** Returns the band between low and high as one polygon, in the strategy's colour. */
function band(line: Line, logX: boolean, logY: boolean): Option | null {
  const rows: [number, number, number][] = [];
  for (let i = 0; i < line.x.length; ++i) {
    const [x, y, low, high] = [line.x[i], line.y[i], line.low?.[i] ?? null, line.high?.[i] ?? null];
    if (x === null || y === null || low === null || high === null || (logX && x <= 0) || (logY && high <= 0)) continue;
    rows.push([x, logY && low <= 0 ? Math.min(y, high) / 10 : low, high]);
  }
  if (rows.length < 2) return null;
  type Api = { coord(point: Point): Point };
  return {
    type: 'custom', name: `band ${line.strategy}`, silent: true, clip: true, z: 1, animation: false, tooltip: { show: false },
    data: [rows[0], rows[rows.length - 1]], encode: { x: 0, y: [1, 2] },
    renderItem: ({ dataIndex }: { dataIndex: number }, api: Api) => dataIndex > 0 ? null : {
      type: 'polygon',
      shape: { points: [...rows.map(([x, low]) => api.coord([x, low])), ...rows.map(([x, , high]) => api.coord([x, high])).reverse()] },
      style: { fill: colour(line.strategy), opacity: 0.16 },
    },
  };
}

/** Returns the height of the line at x, interpolated; null outside of the line. */
export function at(all: Point[], x: number): N {
  if (all.length === 0 || x < all[0][0] || x > all[all.length - 1][0]) return null;
  let [low, high] = [0, all.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (all[middle][0] <= x) low = middle; else high = middle;
  }
  const [[x0, y0], [x1, y1]] = [all[low], all[high]];
  return x1 === x0 ? y1 : y0 + ((x - x0) / (x1 - x0)) * (y1 - y0);
}

/** The size of a plot in pixels. */
export interface Size { width: number; height: number }
export const sized = ({ element }: Plot): Size => ({ width: element.clientWidth, height: element.clientHeight });

const narrow = 480;
const roomForNames = 640;
const mostNames = 8;

export interface LinesSettings {
  lines: Line[]; x: AxisSettings; y: AxisSettings;
  horizontal?: { value: number; text: string }; others?: Option[];
  size: Size; named?: boolean;  // named: names at the ends of the lines, if they fit
  band?: boolean;
}

const positive = (all: N[] | null | undefined): number[] => (all ?? []).filter((x): x is number => x !== null && x > 0);

/** Returns at most `most` ticks: every second, third, ... */
const sparse = (ticks: number[], most: number): number[] => ticks.filter((_, i) => i % Math.max(1, Math.ceil(ticks.length / most)) === 0);

/** Returns a logarithmic axis from just below the values to just above them, with ticks at round numbers. */
function fitted(settings: AxisSettings, values: number[], also: number[], mostTicks = Infinity): AxisSettings {
  const above = [...values, ...also].filter((x) => x > 0);
  if (!settings.log || settings.ticks || above.length === 0) return settings;
  let [least, most] = [above[0], above[0]];
  for (const x of above) { if (x < least) least = x; if (x > most) most = x; }
  const margin = Math.max(1.05, (most / least) ** 0.05);
  return { ...settings, min: least / margin, max: most * margin, ticks: sparse(logTicks(least / margin, most * margin), mostTicks) };
}

const letter = 6.6;  // its approximate width [pixels]

/** Returns how far to move the names at the ends of lines, in a plot of about this size; null if they do not fit. */
function endOffsets(ends: { text: string; data: Point[] }[], { width, height }: Size, logX: boolean, logY: boolean): number[] | null {
  if (width <= roomForNames || ends.length > mostNames) return null;
  const scale = (axisNumber: 0 | 1, log: boolean): ((x: number) => number) => {
    const of = log ? Math.log : (x: number): number => x;
    let [least, most] = [Infinity, -Infinity];
    for (const { data } of ends) for (const point of data) { least = Math.min(least, of(point[axisNumber])); most = Math.max(most, of(point[axisNumber])); }
    return (x) => (of(x) - least) / (most - least || 1);
  };
  const [across, up] = [scale(0, logX), scale(1, logY)];
  const names = ends.filter(({ data }) => data.length > 0).map(({ text, data }) => {
    const [x, y] = data[data.length - 1];
    return { x: across(x) * (width - 200), y: (1 - up(y)) * (height - 80), width: Math.min(128, letter * text.length) + 8 };
  });
  const moved = nudges(names, 14, height - 76);
  return parted(names, moved, 12) ? moved : null;
}

/** The hint under a chart whose lines can be zoomed. */
export const zoomHint = (): HTMLElement | null =>
  zooms() ? h('p', { class: 'hint' }, 'Scroll with Ctrl to zoom, then drag to pan.') : null;

/** Returns the option of a chart of lines. The tooltip has the value of every line at the pointer. */
export function lines({ lines: all, x, y, horizontal, others = [], size, named = false, band: bands = true }: LinesSettings): Option {
  const small = size.width < narrow;
  const drawn = all.map((line) => ({ line, data: points(line, !!x.log, !!y.log) }));
  const moved = named ? endOffsets(drawn.map(({ line, data }) => ({ text: line.short ?? line.text, data })), size, !!x.log, !!y.log) : null;
  const offset = drawn.map(({ data }, i) => (data.length > 0 ? moved?.[drawn.slice(0, i).filter((each) => each.data.length > 0).length] : undefined) ?? 0);
  const series: Option[] = drawn.map(({ line, data }, i) => ({
    type: 'line', name: line.text, id: `line-${line.strategy}-${line.text}`, data, z: 3, clip: true,
    symbol: line.marks || data.length === 1 ? symbol(line.strategy) : 'none', symbolSize: 7, showAllSymbol: true,
    color: colour(line.strategy), itemStyle: { color: colour(line.strategy) },
    lineStyle: { width: 2, type: dash(line.strategy), color: colour(line.strategy), cap: 'butt', join: 'round' },
    emphasis: { focus: 'series', lineStyle: { width: 3.5 } }, blur: { lineStyle: { opacity: 0.18 } },
    endLabel: { show: moved !== null, formatter: () => line.short ?? line.text, offset: [0, offset[i]], color: colour(line.strategy), fontSize: 11.5, distance: 6, width: 128, overflow: 'truncate', textBorderColor: variable('surface'), textBorderWidth: 3 },
  }));
  const shaded = bands ? drawn.map(({ line }) => band(line, !!x.log, !!y.log)).filter((each) => each !== null) : [];
  // In a narrow chart lines would cover the name of the level, so the name goes to the axis.
  if (horizontal) series.push(level(horizontal.value, small ? '' : horizontal.text));
  const tell = (params: { axisValue: number }[] | { axisValue: number }): HTMLElement => {
    const where = (Array.isArray(params) ? params[0] : params).axisValue;
    const values = drawn.map(({ line, data }) => ({ line, value: at(data, where) })).filter(({ value }) => value !== null);
    values.sort((a, b) => b.value! - a.value!);
    return tip(`${x.name}: ${x.format(where)}`, values.map(({ line, value }) => ({ colour: colour(line.strategy), name: line.text, value: y.format(value!) })));
  };
  return {
    grid: frame({ right: moved && all.length > 0 ? Math.min(146, 24 + letter * Math.max(...all.map(({ text, short }) => (short ?? text).length))) : 20 }),
    xAxis: axis({ splits: small ? 3 : 6, ...fitted(x, drawn.flatMap(({ data }) => data.map(([a]) => a)), [], small ? 4 : Infinity), grid: false }, false),
    yAxis: axis(fitted({ ...y, name: horizontal && small ? `${y.name} (dashes: ${horizontal.text})` : y.name }, drawn.flatMap(({ line, data }) => data.map(([, b]) => b).concat(bands ? positive(line.low).concat(positive(line.high)) : [])), horizontal ? [horizontal.value] : []), true),
    tooltip: tooltip('axis', tell, { axisPointer: { type: 'line', lineStyle: { color: variable('quiet'), type: 'solid' } } }),
    dataZoom: zoom(), series: [...shaded, ...others, ...series],
  };
}

/** Returns a dashed horizontal line with its name: a target or an ideal. */
export const level = (value: number, text: string): Option => ({
  type: 'line', name: text, id: `level-${text}`, data: [], silent: true,
  markLine: {
    silent: true, symbol: 'none', animation: false, data: [{ yAxis: value }],
    lineStyle: { color: variable('ink'), type: [4, 4], width: 1.2, opacity: 0.75 },
    label: { formatter: () => text, position: 'insideStartTop', textBorderColor: variable('surface'), textBorderWidth: 3, color: variable('ink'), fontSize: 11.5, distance: 4 },
  },
});
