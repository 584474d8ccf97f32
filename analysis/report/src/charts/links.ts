// The network: its cabling, the bytes of each link (its width), the utilisation of each link (its colour), and both over time.
import { axis, bars as named, frame, tip, tooltip } from '../axes';
import { card, distinct } from '../card';
import { list, place, segments } from '../controls';
import type { Heat, Link, Links, Report } from '../data';
import { h } from '../dom';
import type { Option } from '../echarts';
import { bytes, percent, seconds } from '../format';
import { t } from '../language';
import { roomFor } from '../measure';
import { ramp, ramped } from '../palette';
import { Plot } from '../plot';
import { onChange, pointOf } from '../state';
import { onTheme, variable } from '../theme';
import { isHost, layout, neighbours } from './layout';

type LinkRow = Links['rows'][number];
type Wired = Link & { from: string; to: string };

const mostEdges = 1200;
const mostBars = 24;
const graphHeight = 420;
const radius = 180;  // approximately as drawn: ECharts rounds the ends of lines before it scales them

const wired = (row: LinkRow): Wired[] => row.links.filter((link): link is Wired => link.from !== null && link.to !== null);
/** Returns whether the cabling can be drawn: of a row that lacks links, it would be another one's. */
const known = (row: LinkRow | undefined): boolean => !!row && row.whole !== false && wired(row).length > 0 && wired(row).length <= mostEdges;
const textOf = (link: Link): string => link.text ?? link.name;
const tell = (link: Link): HTMLElement => tip(textOf(link), [
  ...(textOf(link) !== link.name ? [{ name: t('link'), value: link.name }] : []),
  ...(link.from !== null ? [{ name: t('way'), value: `${link.from} → ${link.to}` }] : []),
  { name: t('bytes'), value: bytes(link.bytes) }, { name: t('utilisation'), value: percent(link.utilisation) }]);

/** Returns the upper end of the colour scale: a round utilisation just above the largest one. */
function busyMost(all: (number | null)[]): number {
  const most = Math.max(0, ...all.map((each) => each ?? 0));
  return [0.01, 0.02, 0.05, 0.1, 0.2, 0.5].find((each) => most <= each) ?? 1;
}

const hottest = ({ values, what }: Pick<Heat, 'values' | 'what'>): number =>
  what === 'utilisation' ? busyMost(values.flat()) : Math.max(1, ...values.flat().map((value) => value ?? 0));

function graph(row: LinkRow, width: number): Option {
  const wide = width > 640;
  const side = wide ? 112 : 64;  // room for names
  const links = wired(row);
  const ranks = new Map((row.hosts ?? []).map(({ name, text }) => [name, text]));
  const places = layout(links);
  const near = neighbours(links);
  const hosts = [...places.keys()].some((name) => isHost(name, near));
  const most = Math.max(1, ...links.map((link) => link.bytes));
  const [across, named] = [(width - 2 * side) / (graphHeight - 52), places.size <= (wide ? 48 : 20)];
  const full = busyMost(links.map(({ utilisation }) => utilisation));
  const both = new Set(links.map(({ from, to }) => `${from}\n${to}`));
  return {
    tooltip: tooltip('item', ({ dataType, dataIndex, name }: { dataType: string; dataIndex: number; name: string }) => dataType === 'edge' ? tell(links[dataIndex]) : tip(ranks.get(name) ?? name, ranks.has(name) ? [{ name: t('host'), value: name }] : [])),
    series: [{
      type: 'graph', id: 'topology', layout: 'none', preserveAspect: true, left: side, right: side, top: 26, bottom: 26,
      data: [...places].map(([name, { x, y }]) => {
        const leaf = isHost(name, near) || !hosts;
        return {
          name, x: x * across * radius, y: y * radius, symbol: leaf ? 'circle' : 'roundRect', symbolSize: leaf ? (places.size > 40 ? 8 : 13) : 20,
          itemStyle: { color: leaf ? variable('raised') : variable('ink'), borderColor: variable('ink'), borderWidth: 1.4 },
          label: { show: named, formatter: ranks.get(name) ?? name, width: side - 16, overflow: 'truncate', color: variable('quiet'), fontSize: 11, distance: 5, ...(leaf ? {} : { backgroundColor: variable('surface'), padding: [1, 3], borderRadius: 3 }),
            position: !leaf ? 'bottom' : Math.abs(x) > 0.35 ? (x > 0 ? 'right' : 'left') : y > 0 ? 'bottom' : 'top' },
        };
      }),
      links: links.map(({ from, to, bytes: carried, utilisation }) => ({
        source: from, target: to,
        lineStyle: { width: 1.2 + 8.5 * (carried / most), color: ramped(utilisation === null ? carried / most : utilisation / full), opacity: 1, curveness: both.has(`${to}\n${from}`) ? 0.06 : 0 },
      })),
      labelLayout: { hideOverlap: true },
      emphasis: { focus: 'adjacency', lineStyle: { opacity: 1 } }, blur: { lineStyle: { opacity: 0.12 }, itemStyle: { opacity: 0.3 } },
    }],
  };
}

const busiest = (row: LinkRow): Link[] => [...row.links].sort((a, b) => (b.utilisation ?? 0) - (a.utilisation ?? 0) || b.bytes - a.bytes).slice(0, mostBars);

function bars(row: LinkRow, wide: boolean): Option {
  const links = busiest(row);
  return {
    grid: frame({ top: 8, left: 8, right: roomFor(links.map((link) => bytes(link.bytes))) }),
    xAxis: axis({ name: t('utilisation'), format: percent, min: 0, splits: wide ? 4 : 2 }, false),
    yAxis: named(links.map(textOf), wide, false),
    tooltip: tooltip('axis', (params: { dataIndex: number }[]) => tell(links[params[0].dataIndex]), { axisPointer: { type: 'shadow', shadowStyle: { color: variable('hover') } } }),
    series: [{ type: 'bar', id: 'busiest', name: t('busiest'), barMaxWidth: 18,
      data: links.map(({ utilisation }) => ({ value: utilisation, itemStyle: { color: ramped(0.25 + (0.75 * (utilisation ?? 0)) / busyMost(links.map((each) => each.utilisation))) } })),
      label: { show: true, position: 'right', color: variable('quiet'), fontSize: 11, formatter: ({ dataIndex }: { dataIndex: number }) => bytes(links[dataIndex].bytes) } }],
  };
}

const rowHeight = (rows: number): number => (rows > 30 ? 13 : 20);

/** Returns the heat map: a cell per link and interval, as wide as the interval is long. */
function heat({ names: ids, edges_s, values, what }: Heat, links: Link[], wide: boolean): Option {
  const texts = new Map(links.map((link) => [link.name, textOf(link)]));
  const names = ids.map((id) => texts.get(id) ?? id);
  const format = what === 'utilisation' ? percent : (x: number): string => `${bytes(x)}/s`;
  const cells = values.flatMap((row, y) => row.map((value, x) => [x, y, value]).filter(([, , value]) => value !== null));
  const most = hottest({ values, what });
  type Api = { value(i: number): number; coord(point: [number, number]): [number, number]; size(of: [number, number]): [number, number] };
  return {
    grid: frame({ left: 8 }),
    xAxis: axis({ name: t('simulated time'), format: seconds, min: edges_s[0], max: edges_s[edges_s.length - 1], grid: false, splits: wide ? 6 : 2 }, false),
    yAxis: named(names, wide, false, rowHeight(names.length) < 16 ? 10 : undefined),
    tooltip: tooltip('item', ({ value: [x, y, value] }: { value: [number, number, number] }) =>
      tip(names[y], [{ name: t('{0} to {1}', seconds(edges_s[x]), seconds(edges_s[x + 1])), value: format(value) }])),
    series: [{
      type: 'custom', id: 'heat', name: t('heat'), data: cells, encode: { x: -1, y: 1 }, progressive: 0, animation: false,
      renderItem: (_: unknown, api: Api) => {
        const [column, row] = [api.value(0), api.value(1)];
        const [[from, middle], [to]] = [api.coord([edges_s[column], row]), api.coord([edges_s[column + 1], row])];
        const height = api.size([0, 1])[1];
        const [left, right, top, bottom] = [from, to, middle - height / 2, middle + height / 2].map(Math.round);
        return { type: 'rect', shape: { x: left, y: top, width: right - left, height: bottom - top }, style: { fill: ramped(api.value(2) / most) }, emphasis: { style: { stroke: variable('ink'), lineWidth: 1 } } };
      },
    }],
  };
}

/** Returns the scale of the colours, and a function that sets it for a row. */
function scale(): { element: HTMLElement; tell: (row: LinkRow, view: string) => void } {
  const thicker = h('span', {}, t('Thicker: more bytes.'));
  const strip = h('i', { class: 'ramp' });
  const end = h('b', {});
  const paint = (): void => { strip.style.background = `linear-gradient(to right, ${ramp().join(',')})`; };
  paint();
  onTheme(paint);
  return {
    element: h('p', { class: 'scale' }, '0', strip, end, thicker),
    tell: (row, view) => {
      thicker.hidden = view !== 'graph';
      const most = view === 'heat' ? hottest(row.heat!) : busyMost(wired(row).map(({ utilisation }) => utilisation));
      end.textContent = view === 'heat' && row.heat!.what === 'bytes_per_s' ? `${bytes(most)}/s` : t('{0} busy', percent(most));
    },
  };
}

export function links(report: Report, data: Links, file: string): HTMLElement {
  const strategies = distinct(data.rows.map(({ strategy }) => strategy));
  const busiestOf = (row: LinkRow): number => Math.max(0, ...row.links.map(({ utilisation }) => utilisation ?? 0));
  const first = data.rows.filter(({ point }) => point === pointOf(report, data.rows, data.about)).reduce<LinkRow | null>((a, b) => (a && busiestOf(a) >= busiestOf(b) ? a : b), null);
  const chosen = { strategy: data.about?.strategy ?? first?.strategy ?? strategies[0], view: 'graph' };
  const at = place(report, () => data.rows.filter(({ strategy }) => strategy === chosen.strategy), data.about);
  const here = (): LinkRow | undefined => data.rows.find(({ strategy, point }) => strategy === chosen.strategy && point === at.point());
  const drawn = (): string => (chosen.view === 'heat' && here()?.heat ? 'heat' : chosen.view === 'graph' && known(here()) ? 'graph' : 'bars');
  const fit = (): void => {
    const row = here();
    const rows = drawn() === 'heat' ? row!.heat!.names.length : row ? busiest(row).length : 1;
    plot.height = drawn() === 'graph' ? graphHeight : 90 + rows * (drawn() === 'heat' ? rowHeight(rows) : 26);
  };
  const plot: Plot = new Plot('links', data.sentence, graphHeight, () => {
    fit();
    key.element.hidden = drawn() === 'bars';
    const row = here();
    if (row) key.tell(row, drawn());
    const wide = plot.element.clientWidth > 640;
    if (!row) return { series: [] };
    return drawn() === 'graph' ? graph(row, plot.element.clientWidth) : drawn() === 'heat' ? heat(row.heat!, row.links, wide) : bars(row, wide);
  });
  const key = scale();
  fit();
  onChange(fit);
  const set = (what: Partial<typeof chosen>): void => { Object.assign(chosen, what); at.show(); plot.redraw(); };
  const views: [string, string][] = [
    ...(data.rows.some(known) ? [['graph', t('Cabling')] as [string, string]] : []), ['bars', t('Busiest links')],
    ...(data.rows.some((row) => row.heat) ? [['heat', t('Over time')] as [string, string]] : [])];
  chosen.view = views[0][0];
  return card('links', t('The network'), data, file, [
    views.length > 1 ? segments(t('Show'), views, chosen.view, (view) => set({ view })) : null,
    list(t('Strategy'), strategies.map((each) => [String(each), report.strategies[each].label]), String(chosen.strategy), (value) => set({ strategy: Number(value) })).element,
    at.element,
  ], plot.element, key.element);
}
