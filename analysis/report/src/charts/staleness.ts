// Staleness: the updates between reading the parameters and applying the gradient.
import { axis, frame, tip, tooltip } from '../axes';
import { card, distinct } from '../card';
import { legend, place } from '../controls';
import type { Report, Staleness } from '../data';
import { percent, whole } from '../format';
import { t } from '../language';
import { colour } from '../palette';
import { Plot } from '../plot';
import { shown } from '../state';
import { variable } from '../theme';

const mostBins = 48;

interface Bins { names: string[]; shares: (counts: { values: number[]; counts: number[] }) => number[] }

/** Returns one bin per value, or ranges of equal width if there are many values. */
export function bins(most: number): Bins {
  const width = Math.max(1, Math.ceil((most + 1) / mostBins));
  const count = Math.floor(most / width) + 1;
  const names = Array.from({ length: count }, (_, i) => (width === 1 ? whole(i) : `${whole(i * width)}–${whole((i + 1) * width - 1)}`));
  const shares = ({ values, counts }: { values: number[]; counts: number[] }): number[] => {
    const all = counts.reduce((a, b) => a + b, 0) || 1;
    const heights = new Array<number>(count).fill(0);
    values.forEach((value, i) => { heights[Math.floor(value / width)] += counts[i] / all; });
    return heights;
  };
  return { names, shares };
}

export function staleness(report: Report, data: Staleness, file: string): HTMLElement {
  const at = place(report, () => data.rows, data.about);
  const plot: Plot = new Plot('staleness', data.sentence, 320, () => {
    const rows = data.rows.filter(({ strategy, point }) => point === at.point() && shown(strategy));
    if (rows.length === 0) return { empty: t('All strategies are hidden.') };
    const { names, shares } = bins(Math.max(0, ...rows.flatMap(({ values }) => values)));
    const heights = rows.map(shares);
    return {
      grid: frame(),
      xAxis: axis({ name: t('staleness [updates]'), format: String, categories: names, grid: false, extra: { axisLabel: { hideOverlap: true, alignMinLabel: 'left', alignMaxLabel: 'right' } } }, false),
      yAxis: axis({ name: t('share of gradients'), format: percent }, true),
      tooltip: tooltip('axis', (params: { dataIndex: number }[]) => {
        const bin = params[0].dataIndex;
        return tip(t('{0} updates old', names[bin]), rows.map(({ strategy }, i) => ({ colour: colour(strategy), name: report.strategies[strategy].label, value: percent(heights[i][bin]) })));
      }, { axisPointer: { type: 'shadow', shadowStyle: { color: variable('hover') } } }),
      series: rows.map(({ strategy }, i) => ({
        type: 'bar', id: `staleness-${strategy}`, name: report.strategies[strategy].label, data: heights[i], barGap: '0%', barCategoryGap: '16%', barMaxWidth: 40,
        color: colour(strategy), itemStyle: { color: colour(strategy), borderRadius: [2, 2, 0, 0] },
      })),
    };
  });
  return card('staleness', t('Staleness of the gradients'), data, file, [at.element],
    legend(report, distinct(data.rows.map(({ strategy }) => strategy))), plot.element);
}
