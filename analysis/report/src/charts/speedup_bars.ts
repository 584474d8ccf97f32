// Speed-up for a single cluster size: a bar per strategy, and the ideal.
import { axis, frame, tip, tooltip } from '../axes';
import type { SpeedupSeries } from '../data';
import type { Option } from '../echarts';
import { number, percent } from '../format';
import { twoLines } from '../names';
import { colour } from '../palette';
import { variable } from '../theme';

interface Named { series: SpeedupSeries; text: string; brief: string }

export const barsHeight = (bars: number): number => 64 + Math.max(bars, 1) * (bars > 16 ? 22 : 34);

export function speedupBars(all: Named[], workers: number, name: string, wide: boolean): Option {
  return {
    grid: frame({ left: 8, right: wide ? 120 : 84 }),
    xAxis: axis({ name: wide ? name : 'speed-up (efficiency)', format: number, min: 0, splits: wide ? 6 : 3 }, false),
    yAxis: axis({ name: '', format: String, categories: all.map(({ brief }) => brief), grid: false,
      extra: { inverse: true, axisTick: { show: false }, axisLabel: { color: variable('ink'), width: wide ? 240 : 130, overflow: 'truncate', fontSize: wide ? 12 : 11, formatter: (text: string) => (wide ? text : twoLines(text)) } } }, true),
    tooltip: tooltip('axis', (params: { dataIndex: number }[]) => {
      const { series, text } = all[params[0].dataIndex];
      return tip(text, [{ name: 'speed-up', value: number(series.speedup[0]) }, { name: 'efficiency', value: percent(series.efficiency[0]) }, { name: 'workers', value: number(workers) }]);
    }, { axisPointer: { type: 'shadow', shadowStyle: { color: variable('hover') } } }),
    series: [{
      type: 'bar', id: 'speedup', name: 'speed-up', barMaxWidth: 20,
      data: all.map(({ series }) => ({ value: series.speedup[0], itemStyle: { color: colour(series.strategy) } })),
      label: { show: true, position: 'right', color: variable('quiet'), fontSize: 11,
        formatter: ({ dataIndex }: { dataIndex: number }) => `${number(all[dataIndex].series.speedup[0])}  (${percent(all[dataIndex].series.efficiency[0])})` },
      markLine: { silent: true, symbol: 'none', animation: false, data: [{ xAxis: workers }], lineStyle: { color: variable('ink'), type: [4, 4], width: 1.2, opacity: 0.75 },
        label: { formatter: () => 'ideal', position: 'insideEndTop', color: variable('ink'), fontSize: 11.5 } },
    }],
  };
}
