// The time chart: compute, communicate, wait, down, and the parts of each.
import { axis, frame, tip, tooltip } from '../axes';
import { card, distinct } from '../card';
import { list, place, segments, toggle } from '../controls';
import { parts, type Report, type Row, type Time, type TimePart } from '../data';
import type { Option } from '../echarts';
import { percent, seconds } from '../format';
import { decal, detailColours, partColours } from '../palette';
import { shortNames, twoLines } from '../names';
import { detailKey, partsKey } from '../parts';
import { Plot } from '../plot';
import { change, onChange, shown, state } from '../state';
import { variable } from '../theme';

interface Bar { name: string; short?: string; parts: number[] }
type View = 'strategies' | 'points' | 'ranks';

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
    series: which.map(({ name, of }, part) => ({
      type: 'bar', stack: 'all', name, id: name, data: bars.map((bar) => value(bar, part)), barMaxWidth: 26, barMinWidth: 3, barCategoryGap: bars.length > 24 ? '12%' : '34%',
      color: colours[part], itemStyle: { color: colours[part], decal: decal(of) ?? { symbol: 'none' }, borderColor: variable('surface'), borderWidth: bars.length > 24 ? 0 : 0.5 },
    })),
  };
}

export function time(report: Report, data: Time, file: string): HTMLElement {
  const labels = report.strategies.map(({ label }) => label);
  const short = shortNames(labels);
  const strategies = distinct(data.rows.map(({ strategy }) => strategy));
  const severalPoints = distinct(data.rows.map(({ point }) => point)).length > 1;
  const which = data.detail.length > 0 ? data.detail : four;
  const detailed = which !== four;
  // The cases of the sentence are seen first: of one strategy in the view of grid points, of two beside each other.
  const [about, other] = [data.about ?? null, data.other ?? null];
  const byPoints = severalPoints && (strategies.length === 1 || (!!other && other.strategy === about?.strategy));
  const chosen = { view: (byPoints ? 'points' : 'strategies') as View, share: false, strategy: byPoints && about ? about.strategy : strategies[0] };
  const eligible = (): Row[] => (chosen.view === 'ranks' ? data.ranks.filter(({ strategy }) => strategy === chosen.strategy) : data.rows);
  const at = place(report, eligible, about);
  const guest = (): Time['rows'] => (other && !byPoints && !state.chosen && at.point() === about?.point ? data.rows.filter((row) => row.strategy === other.strategy && row.point === other.point && shown(row.strategy)) : []);
  const bars = (): Bar[] => {
    if (chosen.view === 'ranks') {
      const row = data.ranks.find(({ strategy, point }) => strategy === chosen.strategy && point === at.point());
      return row ? row.names.map((name, i) => ({ name, parts: detailed ? row.detail[i] : row.parts[i] })) : [];
    }
    if (chosen.view === 'points')
      return data.rows.filter(({ strategy }) => strategy === chosen.strategy).map(({ point, parts: each, detail }) => ({ name: report.points[point].text, parts: detailed ? detail : each }));
    const here = data.rows.filter(({ strategy, point }) => point === at.point() && shown(strategy)).map(({ strategy, parts: each, detail }) => ({ name: labels[strategy], short: short[strategy], parts: detailed ? detail : each }));
    return [...here, ...guest().map(({ strategy, point, parts: each, detail }) => ({ name: `${labels[strategy]}, ${report.points[point].text}`, parts: detailed ? detail : each }))];
  };
  const fit = (): void => {
    const rows = bars().length;
    plot.height = 64 + Math.max(rows, 1) * (rows > 40 ? 14 : rows > 16 ? 20 : 38);
  };
  const plot: Plot = new Plot('time', data.sentence, 200, () => { fit(); return option(bars(), which, chosen.share, plot.element.clientWidth > 640); });
  fit();
  const set = (what: Partial<typeof chosen>): void => { Object.assign(chosen, what); arrange(); plot.redraw(); };
  const strategy = list('Strategy', strategies.map((each) => [String(each), labels[each]]), String(chosen.strategy), (value) => set({ strategy: Number(value) }));
  const arrange = (): void => {
    strategy.element.hidden = chosen.view === 'strategies';
    if (at.element) at.element.hidden = chosen.view === 'points';
    at.show();
  };
  arrange();
  onChange(fit);
  const views: [View, string][] = [['strategies', 'Strategies'], ...(severalPoints ? [['points', 'Grid points'] as [View, string]] : []), ...(data.ranks.length ? [['ranks', 'Ranks'] as [View, string]] : [])];
  return card('time', 'Where the time went', data, file, [
    views.length > 1 ? segments('Compare', views, chosen.view, (view) => change(() => set({ view: view as View }))) : null, strategy.element, at.element,
    toggle('As shares', false, (share) => set({ share })),
  ], detailed ? detailKey(which, signs) : partsKey(signs), plot.element);
}
