// The time chart: compute, communicate, wait, down, and the parts of each.
import { axis, frame, tip, tooltip } from '../axes';
import { distinct } from '../card';
import { toggle } from '../controls';
import { parts, type Report, type Time, type TimePart } from '../data';
import type { Option } from '../echarts';
import { percent, seconds } from '../format';
import { detailColours, partColours } from '../palette';
import { shortNames, twoLines } from '../names';
import { detailKey, partsKey } from '../parts';
import { shown, state } from '../state';
import { variable } from '../theme';
import { layer, stacked, type Chosen } from './stacked';

interface Bar { name: string; short?: string; parts: number[] }

const sum = (all: number[]): number => all.reduce((a, b) => a + b, 0);
const four: TimePart[] = parts.map((name, of) => ({ name, part: of, of }));
const signs = ['solid', 'hatch', 'dots', 'rows'];

/** which: the parts that are stacked. */
function option(bars: Bar[], which: TimePart[], share: boolean, wide: boolean): Option {
  const colours = which === four ? partColours() : which.map(({ part }) => detailColours()[part]);
  const value = (bar: Bar, part: number): number => share ? bar.parts[part] / (sum(bar.parts) || 1) : bar.parts[part];
  return {
    grid: frame({ top: 8, left: 8 }),
    xAxis: axis({ name: share ? 'share of the time' : 'simulated time', format: share ? percent : seconds, max: share ? 1 : undefined, splits: wide ? 6 : 2 }, false),
    yAxis: axis({ name: '', format: String, categories: bars.map(({ name, short }) => short ?? name), grid: false,
      extra: { inverse: true, axisLabel: { color: variable('ink'), width: wide ? 230 : 130, overflow: 'truncate', fontSize: wide ? 12 : 11, formatter: (text: string) => (wide || bars.length > 16 ? text : twoLines(text)) }, axisTick: { show: false } } }, true),
    tooltip: tooltip('axis', (params: { dataIndex: number }[]) => {
      const bar = bars[params[0].dataIndex];
      return tip(bar.name, which.map(({ name }, i) => ({ colour: colours[i], name, value: `${seconds(bar.parts[i])}  ${percent(bar.parts[i] / (sum(bar.parts) || 1))}` })));
    }, { axisPointer: { type: 'shadow', shadowStyle: { color: variable('hover') } } }),
    series: which.map(({ name, of }, part) => layer(name, colours[part], of, bars.map((bar) => value(bar, part)))),
  };
}

export function time(report: Report, data: Time, file: string): HTMLElement {
  const labels = report.strategies.map(({ label }) => label);
  const short = shortNames(labels);
  const strategies = distinct(data.rows.map(({ strategy }) => strategy));
  const points = distinct(data.rows.map(({ point }) => point)).length > 1;
  const which = data.detail.length > 0 ? data.detail : four;
  const detailed = which !== four;
  // The cases of the sentence are seen first: of one strategy in the view of grid points, of two beside each other.
  const [about, other] = [data.about ?? null, data.other ?? null];
  const byPoints = points && (strategies.length === 1 || (!!other && other.strategy === about?.strategy));
  const chosen: Chosen = { view: byPoints ? 'points' : 'strategies', strategy: byPoints && about ? about.strategy : strategies[0] };
  const drawn = { share: false };
  const guest = (point: number): Time['rows'] => (other && !byPoints && !state.chosen && point === about?.point ? data.rows.filter((row) => row.strategy === other.strategy && row.point === other.point && shown(row.strategy)) : []);
  const bars = (at: number): Bar[] => {
    if (chosen.view === 'ranks') {
      const row = data.ranks.find(({ strategy, point }) => strategy === chosen.strategy && point === at);
      return row ? row.names.map((name, i) => ({ name, parts: detailed ? row.detail[i] : row.parts[i] })) : [];
    }
    if (chosen.view === 'points')
      return data.rows.filter(({ strategy }) => strategy === chosen.strategy).map(({ point, parts: each, detail }) => ({ name: report.points[point].text, parts: detailed ? detail : each }));
    const here = data.rows.filter(({ strategy, point }) => point === at && shown(strategy)).map(({ strategy, parts: each, detail }) => ({ name: labels[strategy], short: short[strategy], parts: detailed ? detail : each }));
    return [...here, ...guest(at).map(({ strategy, point, parts: each, detail }) => ({ name: `${labels[strategy]}, ${report.points[point].text}`, parts: detailed ? detail : each }))];
  };
  return stacked(report, {
    id: 'time', title: 'Where the time went', data, file, chosen, strategies, points, ranks: data.ranks.length > 0, bars, margin: 64,
    rows: () => (chosen.view === 'ranks' ? data.ranks.filter(({ strategy }) => strategy === chosen.strategy) : data.rows),
    draw: (all, wide) => option(all, which, drawn.share, wide),
    controls: (redraw) => [toggle('As shares', false, (share) => { drawn.share = share; redraw(); })],
    legend: detailed ? detailKey(which, signs) : partsKey(signs),
  });
}
