// Lines of strategies with confidence bands, for all charts of this kind.
import { axis, frame, tip, tooltip, zoom, zooms, type AxisSettings } from '../axes';
import type { N } from '../data';
import { h } from '../dom';
import type { Option } from '../echarts';
import { t } from '../language';
import { atEnds } from './beside';
import { colour, dash, symbol } from '../palette';
import type { Drawing, Plot } from '../plot';
import { variable } from '../theme';
import { largest, logRange, strangeRange } from '../ticks';

/** short: the text at the end of the line, if it differs from text. style: the dash and the marker, if they are not the strategy's. points: as many are drawn, the others are after divergence. diverged: the text at the end of such a line. */
export interface Line {
  strategy: number; text: string; short?: string; x: N[]; y: N[]; low?: N[] | null; high?: N[] | null;
  marks?: boolean; style?: number; points?: number; diverged?: string;
}

type Point = [number, number];

const drawable = (x: N | undefined): x is number => x !== null && x !== undefined && Math.abs(x) <= largest;

/** Returns the points that can be drawn: a logarithmic axis needs positive numbers. */
export function points({ x, y, points: most = Infinity }: Line, logX: boolean, logY: boolean): Point[] {
  const all: Point[] = [];
  for (let i = 0; i < Math.min(x.length, most); ++i) {
    const [a, b] = [x[i], y[i]];
    if (!drawable(a) || !drawable(b) || (logX && a <= 0) || (logY && b <= 0)) continue;
    all.push([a, b]);
  }
  return all;
}

/** A row of a band: x, low, high. */
type BandRow = [number, number, number];

function bandRows(line: Line, logX: boolean, logY: boolean): BandRow[] {
  const rows: BandRow[] = [];
  for (let i = 0; i < Math.min(line.x.length, line.points ?? Infinity); ++i) {
    const [x, y, low, high] = [line.x[i], line.y[i], line.low?.[i], line.high?.[i]];
    if (!drawable(x) || !drawable(y) || !drawable(low) || !drawable(high) || (logX && x <= 0) || (logY && (high <= 0 || y <= 0))) continue;
    rows.push([x, logY ? Math.max(low, y / 10) : low, high]);
  }
  return rows;
}

/** Returns the band between low and high as one polygon, in the strategy's colour. */
function band({ strategy }: Line, rows: BandRow[]): Option | null {
  if (rows.length < 2) return null;
  type Api = { coord(point: Point): Point };
  return {
    type: 'custom', name: `band ${strategy}`, silent: true, clip: true, z: 1, animation: false, tooltip: { show: false },
    data: [rows[0], rows[rows.length - 1]], encode: { x: 0, y: [1, 2] },
    renderItem: ({ dataIndex }: { dataIndex: number }, api: Api) => dataIndex > 0 ? null : {
      type: 'polygon',
      shape: { points: [...rows.map(([x, low]) => api.coord([x, low])), ...rows.map(([x, , high]) => api.coord([x, high])).reverse()] },
      style: { fill: colour(strategy), opacity: 0.16 },
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
const mostMarked = 12;  // lines of so few points show where they were evaluated

/** A horizontal line over the whole chart. text: its name, for the axis. */
export interface Level { value: number; text: string; dotted?: boolean }

export interface LinesSettings {
  lines: Line[]; x: AxisSettings; y: AxisSettings;
  levels?: Level[]; others?: Option[];
  size: Size; named?: boolean;  // named: names at the ends of the lines, if they fit
  band?: boolean;
}

/** Returns at most `most` ticks: every second, third, ... */
const sparse = (ticks: number[], most: number): number[] => ticks.filter((_, i) => i % Math.max(1, Math.ceil(ticks.length / most)) === 0);

/** Returns an axis with ends and ticks that suit the values, where ECharts' own would not. */
function fitted(settings: AxisSettings, values: number[], mostTicks: number): AxisSettings {
  if (settings.ticks) return settings;
  if (!settings.log) {
    const range = settings.max === undefined ? strangeRange(values, mostTicks, settings.min === 0 || !settings.scale) : null;
    return range ? { ...settings, ...range } : settings;
  }
  const range = logRange(values);
  return range ? { ...settings, ...range, ticks: sparse(range.ticks, mostTicks) } : { ...settings, min: 0.1, max: 10, ticks: [0.1, 1, 10] };
}

const letter = 6.6;  // its approximate width [pixels]
const widest = ({ diverged }: Line): number => (diverged ? 230 : 128);

/** The text at the end of a line. */
const endText = ({ text, short, diverged }: Line): string => (diverged ? `${short ?? text} (${diverged})` : short ?? text);
const endWidth = (line: Line): number => Math.min(widest(line), letter * endText(line).length);

/** The hint under a chart whose lines can be zoomed. */
export const zoomHint = (): HTMLElement | null =>
  zooms() ? h('p', { class: 'hint' }, t('Scroll with Ctrl to zoom, then drag to pan.')) : null;

const cross = 'path://M-5-3.6L-3.6-5L0-1.4L3.6-5L5-3.6L1.4 0L5 3.6L3.6 5L0 1.4L-3.6 5L-5 3.6L-1.4 0Z';

/** Returns the crosses at the ends of the lines that diverge. */
function crosses(drawn: { line: Line; data: Point[] }[]): Option[] {
  const ends = drawn.filter(({ line, data }) => line.diverged && data.length > 0);
  return ends.length === 0 ? [] : [{
    type: 'scatter', id: 'diverged', name: t('diverged'), silent: true, z: 4, symbol: cross, symbolSize: 12, tooltip: { show: false },
    data: ends.map(({ line, data }) => ({ value: data[data.length - 1], name: line.text, itemStyle: { color: colour(line.strategy), borderColor: variable('surface'), borderWidth: 0.6 } })),
  }];
}

/** Returns the names at the ends of the lines: invisible points whose labels keep clear of each other. */
const names = (ends: { line: Line; data: Point[] }[], size: Size): Option => ({
  type: 'scatter', id: 'names', name: '', silent: true, z: 5, symbol: 'circle', symbolSize: 1, tooltip: { show: false }, labelLayout: atEnds(size),
  data: ends.map(({ line, data }) => ({
    value: data[data.length - 1], name: line.text, itemStyle: { color: colour(line.strategy) },
    label: { show: true, position: 'right', distance: 6, formatter: () => endText(line), color: colour(line.strategy), fontSize: 11.5, width: widest(line), overflow: 'truncate', textBorderColor: variable('surface'), textBorderWidth: 3 },
  })),
});

/** Returns the option of a chart of lines. The tooltip has the value of every line at the pointer. */
export function lines({ lines: all, x, y, levels = [], others = [], size, named = false, band: bands = true }: LinesSettings): Drawing {
  const small = size.width < narrow;
  const drawn = all.map((line) => ({ line, data: points(line, !!x.log, !!y.log) }));
  if (drawn.every(({ data }) => data.length === 0)) return { empty: all.length === 0 ? t('All strategies are hidden.') : t('There is no value here that these axes can show.') };
  const ends = named && size.width > roomForNames ? drawn.filter(({ data }) => data.length > 0) : [];
  const withNames = ends.length > 0 && ends.length <= mostNames;
  const series: Option[] = drawn.map(({ line, data }) => ({
    type: 'line', name: line.text, id: `line-${line.strategy}-${line.text}`, data, z: 3, clip: true,
    symbol: line.marks || data.length <= mostMarked ? symbol(line.style ?? line.strategy) : 'none', symbolSize: 7, showAllSymbol: true,
    color: colour(line.strategy), itemStyle: { color: colour(line.strategy) },
    lineStyle: { width: 2, type: dash(line.style ?? line.strategy), color: colour(line.strategy), cap: 'butt', join: 'round' },
    emphasis: { focus: 'series', lineStyle: { width: 3.5 } }, blur: { lineStyle: { opacity: 0.18 } },
  }));
  const rows = bands ? drawn.map(({ line }) => bandRows(line, !!x.log, !!y.log)) : [];
  const shaded = rows.map((each, i) => band(drawn[i].line, each)).filter((each) => each !== null);
  // An invisible point of each level, beside the first of a line, keeps the level within the axis.
  const first = drawn.find(({ data }) => data.length > 0)!.data[0];
  for (const { value, text, dotted } of levels) series.push({ ...level(value, text, dotted), data: y.log && value <= 0 ? [] : [[first[0], value]], symbol: 'none' });
  const tell = (params: { axisValue: number }[] | { axisValue: number }): HTMLElement => {
    const where = (Array.isArray(params) ? params[0] : params).axisValue;
    const values = drawn.map(({ line, data }) => ({ line, value: at(data, where) })).filter(({ value }) => value !== null);
    values.sort((a, b) => b.value! - a.value!);
    return tip(`${t(x.name)}: ${x.format(where)}`, values.map(({ line, value }) => ({ colour: colour(line.strategy), name: line.text, value: y.format(value!) })));
  };
  const flat = rows.flatMap((each) => each.flatMap(([, low, high]) => [low, high]));
  const heights = drawn.flatMap(({ data }) => data.map(([, b]) => b)).concat(flat, levels.map(({ value }) => value));
  // The names of the levels stand at the axis: within the chart lines would cover them.
  const said = [...new Set(levels.map(({ text, dotted }) => t(dotted ? 'dots: {0}' : 'dashes: {0}', text)))];
  const name = said.length > 0 ? `${t(y.name)} (${said.join(small ? `${t('; ').trimEnd()}\n` : t('; '))})` : t(y.name);
  return {
    grid: frame({ right: withNames ? 24 + Math.max(...ends.map(({ line }) => endWidth(line))) : 20 }),
    xAxis: axis({ splits: small ? 3 : 6, ...fitted(x, drawn.flatMap(({ data }) => data.map(([a]) => a)), small ? 4 : 8), grid: false }, false),
    yAxis: axis(fitted({ ...y, name }, heights, 9), true),
    tooltip: tooltip('axis', tell, { axisPointer: { type: 'line', lineStyle: { color: variable('quiet'), type: 'solid' } } }),
    dataZoom: zoom(), series: [...shaded, ...others, ...series, ...crosses(drawn), ...(withNames ? [names(ends, size)] : [])],
  };
}

/** Returns a dashed or dotted horizontal line: a target, an ideal or a bound. Its name is said at the axis. */
export const level = (value: number, text: string, dotted = false): Option => ({
  type: 'line', name: text, id: `level-${dotted ? value : text}`, data: [], silent: true, z: 2,
  markLine: {
    silent: true, symbol: 'none', animation: false, z: 2, data: [{ yAxis: value }], label: { show: false },
    lineStyle: { color: variable('ink'), type: dotted ? [1.5, 3] : [4, 4], width: dotted ? 1.8 : 1.2, opacity: 0.75 },
  },
});
