// The memory chart: what the fullest rank of each strategy holds at its peak, by part, and the memory of its device as a line.
import { axis, bars as named, frame, tip, tooltip } from '../axes';
import { distinct } from '../card';
import type { Memory, N, Report } from '../data';
import type { Drawing } from '../plot';
import type { Option } from '../echarts';
import { bytes, percent } from '../format';
import { t } from '../language';
import { memoryColours } from '../palette';
import { memoryKey } from '../parts';
import { shown } from '../state';
import { variable } from '../theme';
import { layer, stacked, type Chosen } from './stacked';

interface Bar { name: string; who: string; bytes: number[]; limit: N }

const sum = (all: number[]): number => all.reduce((a, b) => a + b, 0);
const farthest = 20;  // a device of more times the largest peak is told, but not drawn: bars would be threads
const known = (x: N): x is number => x !== null;

/** Returns whether the line of the devices is within the chart. */
const near = (bars: Bar[]): boolean => Math.max(...bars.map(({ limit }) => limit ?? 0)) <= farthest * Math.max(...bars.map((bar) => sum(bar.bytes)));

/** Returns the name of the axis: the line's size stands there, for within the chart bars would cover it. */
function axisName(bars: Bar[]): string {
  const sizes = distinct(bars.map(({ limit }) => limit).filter(known));
  if (sizes.length === 0) return t('memory at the peak');
  const size = sizes.length === 1 ? bytes(sizes[0]) : `${bytes(sizes[0])} – ${bytes(sizes[sizes.length - 1])}`;
  return near(bars) ? t('memory (line: device, {0})', size) : t('memory (the device has {0})', size);
}

/** Returns the devices as a line that crosses each bar at the memory of its device. */
function devices(bars: Bar[]): Option | null {
  const data = bars.flatMap(({ limit }, i) => (known(limit) ? [[limit, i]] : []));
  if (data.length === 0 || !near(bars)) return null;
  type Api = { value(dimension: number): number; coord(point: number[]): number[]; size(extent: number[]): number[] };
  return {
    type: 'custom', id: 'device', name: t('memory of the device'), silent: true, z: 4, tooltip: { show: false }, data, encode: { x: 0, y: 1 },
    renderItem: (_: unknown, api: Api) => {
      const [[x, y], [, height]] = [api.coord([api.value(0), api.value(1)]), api.size([0, 1])];
      return { type: 'line', shape: { x1: x, x2: x, y1: y - height / 2, y2: y + height / 2 }, style: { stroke: variable('ink'), lineWidth: 2 } };
    },
  };
}

function option(bars: Bar[], parts: Memory['parts'], wide: boolean): Drawing {
  if (bars.length === 0) return { empty: t('All strategies are hidden.') };
  const line = devices(bars);
  return {
    grid: frame({ top: 8, left: 8 }),
    xAxis: axis({ name: wide ? axisName(bars) : axisName(bars).replace(/ ?(?=[(（])/, '\n'), format: bytes, splits: wide ? 6 : 2 }, false),
    yAxis: named(bars.map(({ name }) => name), wide, bars.length <= 16),
    tooltip: tooltip('axis', (params: { dataIndex: number }[]) => {
      const bar = bars[params[0].dataIndex];
      const all = sum(bar.bytes);
      return tip(`${bar.name}${bar.who}: ${bytes(all)}`, [
        ...parts.map(({ name, part }, i) => ({ colour: memoryColours()[part], name, value: `${bytes(bar.bytes[i])}  ${percent(bar.bytes[i] / (all || 1))}` })),
        ...(known(bar.limit) ? [{ name: t('memory of the device'), value: `${bytes(bar.limit)}` }] : [])]);
    }, { axisPointer: { type: 'shadow', shadowStyle: { color: variable('hover') } } }),
    series: [...parts.map(({ name, part }, i) => layer(name, memoryColours()[part], part % 4, bars.map((bar) => bar.bytes[i]))), ...(line ? [line] : [])],
  };
}

export function memory(report: Report, data: Memory, file: string): HTMLElement {
  const labels = report.strategies.map(({ label }) => label);
  const strategies = distinct(data.rows.map(({ strategy }) => strategy));
  const points = distinct(data.rows.map(({ point }) => point)).length > 1;
  const chosen: Chosen = { view: strategies.length === 1 && points ? 'points' : 'strategies', strategy: data.about?.strategy ?? strategies[0] };
  // Ranks are in the order of their peaks, so that the first has the largest one.
  const fullest = (name: string, { ranks }: Memory['rows'][number]): Bar => ({ ...ranks[0], name, who: ranks.length > 1 ? `, ${ranks[0].name}` : '' });
  const bars = (at: number): Bar[] => {
    const mine = data.rows.filter(({ strategy }) => strategy === chosen.strategy);
    if (chosen.view === 'points') return mine.map((row) => fullest(report.points[row.point].text, row));
    if (chosen.view === 'ranks') return (mine.find(({ point }) => point === at)?.ranks ?? []).map((ranks) => ({ ...ranks, who: '' }));
    return data.rows.filter(({ strategy, point }) => point === at && shown(strategy)).map((row) => fullest(labels[row.strategy], row));
  };
  return stacked(report, {
    id: 'memory', title: 'Memory of the ranks', data, file, chosen, strategies, points, ranks: data.rows.some(({ ranks }) => ranks.length > 1), bars, margin: 72,
    rows: () => (chosen.view === 'ranks' ? data.rows.filter(({ strategy }) => strategy === chosen.strategy) : data.rows),
    draw: (all, wide) => option(all, data.parts, wide),
    legend: memoryKey(data.parts),
  });
}
