// Cost or energy against time, and the Pareto front: no other case is both cheaper and faster than a case on it.
import { axis, frame, tip, tooltip } from '../axes';
import { card, distinct } from '../card';
import { legend, segments, toggle } from '../controls';
import type { Pareto, ParetoRow, Report } from '../data';
import type { Option } from '../echarts';
import { dollars, joules, seconds } from '../format';
import { t } from '../language';
import { shortNames } from '../names';
import { colour, symbol } from '../palette';
import { beside } from './beside';
import { Plot } from '../plot';
import { shown } from '../state';
import { variable } from '../theme';
import { logRange, strangeRange } from '../ticks';

type Paid = 'cost_usd' | 'energy_j';

export function pareto(report: Report, data: Pareto, file: string): HTMLElement {
  const has = (paid: Paid): boolean => data.rows.some((row) => row[paid] !== null);
  const chosen = { paid: (has('cost_usd') ? 'cost_usd' : 'energy_j') as Paid, log: false };
  const short = shortNames(report.strategies.map(({ label }) => label));
  const brief = (row: ParetoRow): string => [short[row.strategy], report.points[row.point]?.text].filter(Boolean).join('\n');
  const text = (row: ParetoRow): string => report.strategies[row.strategy].label + (report.points[row.point]?.text ? `, ${report.points[row.point].text}` : '');
  const plot: Plot = new Plot('pareto', data.sentence, 400, () => {
    const rows = data.rows.filter((row) => row[chosen.paid] !== null && shown(row.strategy));
    if (rows.length === 0) return { empty: t('All strategies are hidden.') };
    const on = new Set(rows.filter((row) => (chosen.paid === 'cost_usd' ? row.front : row.front_energy)));
    const line = [...on].sort((a, b) => a[chosen.paid]! - b[chosen.paid]!);
    const paid = chosen.paid === 'cost_usd' ? dollars : joules;
    const named = chosen.paid === 'cost_usd' ? t('cost') : t('energy');
    const fitted = (values: number[], most: number): Option => {
      const range = chosen.log ? logRange(values) : strangeRange(values, most, false);
      return range ? { ...range, ticks: range.ticks.filter((_, i) => i % Math.ceil(range.ticks.length / most) === 0) } : {};
    };
    const wide = plot.element.clientWidth > 640;
    const dots = (row: ParetoRow): Option => ({
      value: [row[chosen.paid], row.time_s], name: text(row), symbol: symbol(row.strategy), symbolSize: on.has(row) ? 13 : 10,
      itemStyle: on.has(row) ? { color: colour(row.strategy), borderColor: variable('ink'), borderWidth: 1.2 }
                             : { color: colour(row.strategy), opacity: 0.55, borderColor: variable('surface'), borderWidth: 0.5 },
      label: { show: on.has(row), position: 'right', distance: 8, textBorderColor: variable('surface'), textBorderWidth: 3, formatter: () => (wide ? brief(row) : report.points[row.point]?.text || brief(row)), color: variable('ink'), fontSize: 11, lineHeight: 13, width: wide ? 220 : 110, overflow: 'break' },
    });
    return {
      grid: frame({ right: 30, top: 20 }),
      xAxis: axis({ name: named, format: paid, log: chosen.log, scale: true, splits: wide ? 6 : 3, ...fitted(rows.map((row) => row[chosen.paid]!), wide ? 8 : 3) }, false),
      yAxis: axis({ name: data.time_is === 'time_to_target' ? t('time to target') : t('simulated time'), format: seconds, log: chosen.log, scale: !chosen.log, ...fitted(rows.map((row) => row.time_s), 8) }, true),
      tooltip: tooltip('item', ({ data: { name, value } }: { data: { name: string; value: [number, number] } }) =>
        tip(name, [{ name: t('time'), value: seconds(value[1]) }, { name: named, value: paid(value[0]) }])),
      series: [
        { type: 'line', id: 'front', name: t('front'), data: line.map((row) => [row[chosen.paid], row.time_s]), step: 'end', symbol: 'none', silent: true, z: 1,
          tooltip: { show: false }, lineStyle: { color: variable('quiet'), width: 1.5, type: [5, 4] } },
        { type: 'scatter', id: 'runs', name: t('runs'), z: 3, data: rows.map(dots), labelLayout: beside(plot.element) },
      ],
    };
  });
  const set = (what: Partial<typeof chosen>): void => { Object.assign(chosen, what); plot.redraw(); };
  const title = has('cost_usd') ? (has('energy_j') ? t('Cost, energy and time') : t('Cost against time')) : t('Energy against time');
  return card('pareto', title, data, file, [
    has('cost_usd') && has('energy_j') ? segments(t('Paid'), [['cost_usd', t('Cost')], ['energy_j', t('Energy')]], chosen.paid, (paid) => set({ paid: paid as Paid })) : null,
    toggle(t('Logarithmic'), false, (log) => set({ log })),
  ], legend(report, distinct(data.rows.map(({ strategy }) => strategy))), plot.element);
}
