// Speed-up and efficiency against the number of workers, with the ideal line and the fit of Amdahl's law.
import type { AxisSettings } from '../axes';
import { card, distinct } from '../card';
import { keys, legend, toggle } from '../controls';
import type { N, Report, Speedup, SpeedupSeries } from '../data';
import { h } from '../dom';
import type { Option } from '../echarts';
import { number, percent, whole } from '../format';
import { t } from '../language';
import { shortNames } from '../names';
import { colour } from '../palette';
import { Plot } from '../plot';
import { shown } from '../state';
import { variable } from '../theme';
import { linearTicks } from '../ticks';
import { emphasise } from './curves';
import { barsHeight, speedupBars } from './speedup_bars';
import { level, lines, sized, zoomHint, type Line } from './lines';

const plain = (id: string, data: (number | N)[][], line: Option): Option =>
  ({ type: 'line', id, name: id, data, symbol: 'none', silent: true, z: 2, lineStyle: line, itemStyle: { color: (line as { color: string }).color } });

function whiskers({ strategy, text, workers, low, high }: SpeedupSeries): Option | null {
  if (!low || !high) return null;
  const rows = workers.map((x, i) => [x, low[i], high[i]]).filter((row): row is [number, number, number] => row[1] !== null && row[2] !== null);
  type Api = { value(i: number): number; coord(point: [number, number]): [number, number] };
  return {
    type: 'custom', id: `whisker-${strategy}-${text}`, name: 'whisker', silent: true, z: 2, data: rows, encode: { x: 0, y: [1, 2] }, tooltip: { show: false },
    renderItem: (_: unknown, api: Api) => {
      const [[x, bottom], [, top]] = [api.coord([api.value(0), api.value(1)]), api.coord([api.value(0), api.value(2)])];
      const stroke = (x1: number, y1: number, x2: number, y2: number): Option =>
        ({ type: 'line', shape: { x1, y1, x2, y2 }, style: { stroke: colour(strategy), lineWidth: 1.5 } });
      return { type: 'group', children: [stroke(x, bottom, x, top), stroke(x - 4, bottom, x + 4, bottom), stroke(x - 4, top, x + 4, top)] };
    },
  };
}

/** What the names of a speed-up and of its efficiency end in: "efficiency" alone is by samples per second. */
const toTarget = ({ measure }: Speedup): string => (measure === 'throughput' ? '' : ' to target');

const highest = (all: SpeedupSeries[]): number => Math.max(0, ...all.flatMap(({ efficiency }) => efficiency.map((x) => x ?? 0)));

function oneSize(report: Report, data: Speedup, file: string, workers: number, name: string): HTMLElement {
  const short = shortNames(report.strategies.map(({ label }) => label));
  const named = (series: SpeedupSeries): { series: SpeedupSeries; text: string; brief: string } => {
    const of = (label: string): string => [label, series.text].filter(Boolean).join(', ');
    return { series, text: of(report.strategies[series.strategy].label), brief: of(short[series.strategy]) };
  };
  const here = (): SpeedupSeries[] => data.series.filter(({ strategy }) => shown(strategy));
  const plot: Plot = new Plot('speedup', data.sentence, barsHeight(data.series.length), () => {
    plot.height = barsHeight(here().length);
    return speedupBars(here().map(named), workers, t('{0}, {1} workers; {2} in brackets', name, whole(workers), t(`efficiency${toTarget(data)}`)), toTarget(data), plot.element.clientWidth > 640);
  });
  return card('speedup', t('Speed-up and efficiency'), data, file, [], legend(report, distinct(data.series.map(({ strategy }) => strategy))), plot.element);
}

export function speedup(report: Report, data: Speedup, file: string): HTMLElement {
  const chosen = { log: false, amdahl: true };
  const text = (each: SpeedupSeries): string => report.strategies[each.strategy].label + (each.text ? `, ${each.text}` : '');
  const here = (): SpeedupSeries[] => data.series.filter(({ strategy }) => shown(strategy));
  const variants = [...new Set(data.series.map((each) => each.text))];  // the other keys of the grid: a dash and a marker each
  const most = Math.max(...data.series.flatMap(({ workers }) => workers));
  const least = Math.min(...data.series.flatMap(({ workers }) => workers));
  const sizes = distinct(data.series.flatMap(({ workers }) => workers));
  const measured = data.measure === 'throughput' ? t('speed-up (samples per second)') : t('speed-up (time to target)');
  if (sizes.length === 1) return oneSize(report, data, file, sizes[0], measured);
  /** The axis of workers has ticks at the measured sizes. */
  const x = (): AxisSettings => ({ name: t('workers'), format: whole, log: chosen.log, min: chosen.log ? least / 1.1 : 0, max: most * (chosen.log ? 1.1 : 1.02), ticks: sizes });
  const asLines = (pick: (each: SpeedupSeries) => N[]): Line[] =>
    here().map((each) => ({ strategy: each.strategy, text: text(each), x: each.workers, y: pick(each), marks: true, ...(variants.length > 1 ? { style: variants.indexOf(each.text) } : {}) }));

  const up: Plot = new Plot('speedup', data.sentence, 360, () => lines({
    size: sized(up), lines: asLines((each) => each.speedup),
    x: x(),
    y: { name: measured, format: number, log: chosen.log, min: chosen.log ? undefined : 0 },
    others: [
      plain('ideal', [[chosen.log ? Math.max(least, 1) : 0, chosen.log ? Math.max(least, 1) : 0], [most, most]], { color: variable('quiet'), type: [5, 4], width: 1.4 }),
      ...here().map(whiskers).filter((each) => each !== null),
      ...(chosen.amdahl ? here().filter(({ amdahl }) => amdahl).map((each, i) =>
        plain(`amdahl-${each.strategy}-${i}`, each.amdahl!.workers.map((P, k) => [P, each.amdahl!.speedup[k]]), { color: colour(each.strategy), type: [1, 3], width: 1.6, opacity: 0.9 })) : []),
    ],
  }));
  const efficiency: Plot = new Plot('efficiency', `${data.measure === 'throughput' ? t('Efficiency: the speed-up in samples per second divided by the number of workers.') : t('Efficiency to target: the speed-up to target divided by the number of workers.')} ${data.sentence}`, 360, () => lines({
    size: sized(efficiency), lines: asLines((each) => each.efficiency),
    x: x(),
    y: { name: `${t(`efficiency${toTarget(data)}`)} (${t('dashes: {0}', t('ideal'))})`, format: percent, min: 0, max: Math.max(1.1, highest(data.series) * 1.05), ticks: linearTicks(0, Math.max(1.1, highest(data.series) * 1.05), 6) }, others: [level(1, 'ideal')],
  }));
  const set = (what: Partial<typeof chosen>): void => { Object.assign(chosen, what); up.redraw(); efficiency.redraw(); };
  const fitted = data.series.filter(({ amdahl }) => amdahl);
  const fits = fitted.length === 0 ? null : h('p', { class: 'fits' },
    t('Grey dashes: the ideal. Dots: the fit of Amdahl’s law, with a serial share of: {0}.', fitted.map((each) => `${text(each)} ${percent(each.amdahl!.serial)}`).join(', ')));
  return card('speedup', t('Speed-up and efficiency'), data, file, [
    toggle(t('Logarithmic'), chosen.log, (log) => set({ log })),
    fitted.length > 0 ? toggle(t('Amdahl’s fit'), true, (amdahl) => set({ amdahl })) : null,
  ], legend(report, distinct(data.series.map(({ strategy }) => strategy)), (strategy) => { emphasise(up)(strategy); emphasise(efficiency)(strategy); }, variants.length > 1),
    variants.length > 1 ? keys(variants.map((each, style) => ({ style, text: each })), true) : null,
    h('div', { class: 'pair' }, up.element, efficiency.element), zoomHint(), fits);
}
