// Speed-up for a single cluster size: a bar per strategy, and the ideal.
import { axis, bars, frame, tip, tooltip } from '../axes';
import type { SpeedupSeries } from '../data';
import type { Drawing } from '../plot';
import { number, percent } from '../format';
import { t } from '../language';
import { roomFor } from '../measure';
import { colour } from '../palette';
import { variable } from '../theme';
import { linearTicks } from '../ticks';

interface Named { series: SpeedupSeries; text: string; brief: string }

export const barsHeight = (bars: number): number => 64 + Math.max(bars, 1) * (bars > 16 ? 22 : 34);

export function speedupBars(all: Named[], workers: number, name: string, to: string, wide: boolean): Drawing {
  if (all.length === 0) return { empty: t('All strategies are hidden.') };
  const label = ({ series }: Named): string => `${number(series.speedup[0])}  (${percent(series.efficiency[0])})`;
  // Where all bars are short, the ideal would make them slivers.
  const most = Math.max(0, ...all.map(({ series }) => series.speedup[0] ?? 0));
  const [ideal, end] = [most > workers / 6, Math.max(workers, most) * 1.04];
  return {
    grid: frame({ left: 8, right: roomFor(all.map(label)) }),
    xAxis: axis({ name: (wide ? name : to === '' ? t('{0} ({1})', t('speed-up'), t('efficiency')) : t(`speed-up${to}`)) + (ideal ? ` (${t('dashes: {0}', t('ideal'))})` : ''), format: number, min: 0, ...(ideal ? { max: end, ticks: linearTicks(0, end, wide ? 8 : 4) } : {}), splits: wide ? 6 : 3 }, false),
    yAxis: bars(all.map(({ brief }) => brief), wide, all.length <= 16),
    tooltip: tooltip('axis', (params: { dataIndex: number }[]) => {
      const { series, text } = all[params[0].dataIndex];
      return tip(text, [{ name: t(`speed-up${to}`), value: number(series.speedup[0]) }, { name: t(`efficiency${to}`), value: percent(series.efficiency[0]) }, { name: t('workers'), value: number(workers) }]);
    }, { axisPointer: { type: 'shadow', shadowStyle: { color: variable('hover') } } }),
    series: [{
      type: 'bar', id: 'speedup', name: 'speed-up', barMaxWidth: 20,
      data: all.map(({ series }) => ({ value: series.speedup[0], itemStyle: { color: colour(series.strategy) } })),
      label: { show: true, position: 'right', color: variable('quiet'), fontSize: 11, backgroundColor: variable('surface'), padding: [1, 2],  // the line of the ideal passes behind
        formatter: ({ dataIndex }: { dataIndex: number }) => label(all[dataIndex]) },
      ...(ideal ? { markLine: { silent: true, symbol: 'none', animation: false, data: [{ xAxis: workers }], lineStyle: { color: variable('ink'), type: [4, 4], width: 1.2, opacity: 0.75 },
        z: 1, label: { show: false } } } : {}),
    }],
  };
}
