// The page of a large experiment: a slice of all grid points, the table of all cases, and why only a few points have charts of their own.
import { keys, legend, list, toggle } from '../controls';
import { lines, sized, zoomHint, type Line } from '../charts/lines';
import type { N, Overview, PointsRow, PointsTable, Report, Table } from '../data';
import { h } from '../dom';
import { number, seconds, unbroken, whole } from '../format';
import { t } from '../language';
import { shortNames } from '../names';
import { Plot } from '../plot';
import { pointsTable } from '../points_table';
import { onChange, shown } from '../state';
import { dimensions, fixedText, Grid, measures, sliceText, type Measure, type Slice } from './slices';

const mostLines = 16;
const mostTicks = 12;

/** Returns the places of at most as many values, the first and the last among them. */
export function thinned(count: number, most: number): number[] {
  if (count <= most) return Array.from({ length: count }, (_, i) => i);
  return Array.from({ length: most }, (_, i) => Math.round((i * (count - 1)) / (most - 1)));
}

/** The reader's choices: the slice, the measure, and the value of x whose curves are drawn. */
class Choice {
  readonly grid: Grid;
  readonly all;
  readonly measures: Measure[];
  readonly slice: Slice;
  measure: Measure;
  at: number;
  logY = false;

  constructor(readonly overview: Overview) {
    this.grid = new Grid(overview);
    this.all = dimensions(overview);
    this.measures = measures(overview);
    this.measure = this.measures[0];
    const varied = this.all.map(({ values }, i) => ({ i, count: values.length })).filter(({ i, count }) => i > 0 && count > 1).sort((a, b) => b.count - a.count);
    const x = varied[0].i;
    const lines = this.all[0].values.length > 1 || varied.length < 2 ? 0 : varied[1].i;
    // The slice through the middle one of the points that have charts of their own.
    this.slice = { x, lines, fixed: [0, ...overview.points[overview.closer_points[1]]] };
    this.at = this.slice.fixed[x];
  }

  /** The places of the values that have a line. Strategies that the reader has hidden have none. */
  lines(): number[] {
    const places = thinned(this.all[this.slice.lines].values.length, mostLines);
    return this.slice.lines === 0 ? places.filter(shown) : places;
  }

  lineOf(place: number, x: N[], y: N[], more: Partial<Line> = {}): Line {
    const { name, values } = this.all[this.slice.lines];
    const text = this.slice.lines === 0 ? values[place] : `${name}=${values[place]}`;
    return { strategy: place, text, x, y, ...more };
  }
}

/** Returns the choices of axes, and a value of each dimension that is no axis. changed() is called after each choice. */
function axesControls(choice: Choice, changed: () => void): HTMLElement {
  const { all, slice } = choice;
  const varied = all.map(({ name, values }, i) => ({ i, name, many: values.length > 1 })).filter(({ many }) => many);
  const box = h('div', { class: 'controls' });
  const show = (): void => {
    const x = list(t('x axis'), varied.filter(({ i }) => i > 0).map(({ i, name }) => [String(i), name]), String(slice.x), (value) => {
      if (Number(value) === slice.lines) slice.lines = slice.x;
      slice.x = Number(value);
      choice.at = slice.fixed[slice.x];
      show();
    });
    const series = list(t('Lines'), varied.filter(({ i }) => i !== slice.x).map(({ i, name }) => [String(i), name]), String(slice.lines), (value) => { slice.lines = Number(value); show(); });
    const rest = varied.filter(({ i }) => i !== slice.x && i !== slice.lines).map(({ i, name }) =>
      list(name, all[i].values.map((value, place) => [String(place), value]), String(slice.fixed[i]), (value) => { slice.fixed[i] = Number(value); changed(); }));
    box.replaceChildren(...[x, ...(varied.length > 1 ? [series] : []), ...rest].map(({ element }) => element));
    changed();
  };
  show();
  return box;
}

const lineName = ({ all, slice }: Choice): string => all[slice.lines].name;

function measureLines(choice: Choice): Line[] {
  const { grid, slice, measure, overview, all } = choice;
  const short = shortNames(all[0].values);
  const places = all[slice.x].values.map((_, i) => i);
  return choice.lines().map((line) => {
    const found = places.map((i) => grid.at(slice, i, line));
    const column = (values: N[] | null): N[] => found.map((i) => (i === undefined ? null : values?.[i] ?? null));
    const y = column(overview.cases[measure.id]);
    const margin = measure.margin ? column(overview.cases[measure.margin]) : null;
    const beside = (sign: number): N[] | null => margin && y.map((mean, i) => (mean === null || margin[i] === null ? null : mean + sign * margin[i]!));
    return choice.lineOf(line, places, y, { marks: true, low: beside(-1), high: beside(1), ...(slice.lines === 0 ? { short: short[line] } : {}) });
  });
}

function curveLines(choice: Choice): Line[] {
  const { grid, slice, overview } = choice;
  return choice.lines().flatMap((line) => {
    const found = grid.at(slice, choice.at, line);
    const curve = found === undefined ? null : overview.curves[found];
    if (!curve) return [];
    const { diverged, seeds = 1 } = curve;
    const told = diverged && (diverged.seeds < seeds ? t('{0} of {1} seeds diverged at step {2}', diverged.seeds, seeds, whole(diverged.step)) : t('diverged at step {0}', whole(diverged.step)));
    return [choice.lineOf(line, curve.time_s, curve.loss, { points: diverged?.points, diverged: told })];
  });
}

/** Returns the row of each case as the table of a small experiment has it. */
function tableOf(overview: Overview): PointsTable {
  const { cases, keys: names, points, statuses, bindings } = overview;
  const of = (column: N[] | null, i: number): N => column?.[i] ?? null;
  const rows = cases.point.map((point, i): PointsRow => ({
    strategy: cases.strategy[i], point, values: points[point].map((place, key) => names[key].values[place]),
    time_s: [of(cases.time_s, i), of(cases.time_margin_s, i)], cost_usd: [of(cases.cost_usd, i), of(cases.cost_margin_usd, i)],
    energy_j: [of(cases.energy_j, i), of(cases.energy_margin_j, i)], speedup: of(cases.speedup, i), speedup_margin: of(cases.speedup_margin, i),
    efficiency: of(cases.efficiency, i), seeds: cases.seeds[i], reached: cases.reached[i], status: statuses[cases.status[i]],
    final_loss: of(cases.final_loss, i), binds: bindings[cases.binds[i]],
  }));
  const to = overview.to_target ? ' to target' : '';
  const columns = ['strategy', ...names.map(({ name }) => name)].map((name) => ({ name, unit: '' })).concat([
    { name: overview.to_target ? 'time to target' : 'simulated time', unit: 's' }, { name: 'time ±', unit: 's' }, { name: `cost${to}`, unit: '$' }, { name: 'cost ±', unit: '$' },
    { name: `energy${to}`, unit: 'J' }, { name: 'energy ±', unit: 'J' }, ...[`speed-up${to}`, 'speed-up ±', `efficiency${to}`, 'reached', 'seeds', 'status', 'final loss', 'binds'].map((name) => ({ name, unit: '' }))]);
  const cells = (row: PointsRow): (string | N)[] => [overview.strategies[row.strategy], ...row.values, ...row.time_s, ...row.cost_usd, ...row.energy_j,
    row.speedup, row.speedup_margin ?? null, row.efficiency, row.reached, row.seeds, row.status, row.final_loss, row.binds];
  return { sentence: overview.sentence, keys: names.map(({ name }) => name), to_target: overview.to_target, rows, get table(): Table { return { columns, rows: rows.map(cells) }; } };
}

function sliceCards(report: Report, overview: Overview): HTMLElement[] {
  const choice = new Choice(overview);
  const { all, slice } = choice;
  const levels = report.target === null ? [] : [{ value: report.target, text: t('target {0}', number(report.target)) }];
  const plot: Plot = new Plot('overview', '', 400, () => lines({
    size: sized(plot), named: true, lines: measureLines(choice),
    x: { name: all[slice.x].name, format: (x) => all[slice.x].values[Math.round(x)] ?? '', min: -0.25, max: all[slice.x].values.length - 0.75, ticks: thinned(all[slice.x].values.length, mostTicks), extra: { axisPointer: { snap: true, label: { show: false } } } },
    y: { name: choice.measure.name, format: (x) => choice.measure.format(x), log: choice.logY, scale: true },
  }));
  const curves: Plot = new Plot('overview-curves', '', 320, () => lines({
    size: sized(curves), named: true, lines: curveLines(choice), levels,
    x: { name: t('simulated time'), format: seconds, min: 0 }, y: { name: t('loss'), format: number, log: true, scale: true },
  }));
  const [told, toldOfCurves] = [h('p', { class: 'sentence', 'aria-live': 'polite' }), h('p', { class: 'sentence' })];
  const [names, hint] = [h('div', {}), h('p', { class: 'hint' })];
  const ofStrategies = legend({ ...report, strategies: overview.strategies.map((label) => ({ label, kind: '' })) }, thinned(overview.strategies.length, mostLines));
  const which = h('div', { class: 'controls' });
  const changed = (): void => {
    const drawn = choice.lines();
    const text = sliceText(choice.grid, slice, drawn, choice.measure);
    told.textContent = unbroken(text);
    plot.element.setAttribute('aria-label', text);
    const { name, values } = all[slice.x];
    which.replaceChildren(list(name, values.map((value, i) => [String(i), value]), String(choice.at), (value) => { choice.at = Number(value); changed(); }).element);
    const place = [`${name}=${values[choice.at]}`, fixedText(choice.grid, slice)].filter(Boolean).join(', ');
    const where = t('Losses at {0}. These curves have few points; curves.csv has every evaluation.', place);
    toldOfCurves.textContent = where;
    curves.element.setAttribute('aria-label', where);
    const count = all[slice.lines].values.length;
    hint.hidden = count <= mostLines;
    hint.textContent = hint.hidden ? '' : t('Lines of {0} of {1} values of {2}: the first, the last, and those at equal distances between.', mostLines, count, lineName(choice));
    names.replaceChildren(slice.lines === 0 ? ofStrategies : keys(choice.lines().map((place) => ({ style: place, text: `${lineName(choice)}=${all[slice.lines].values[place]}` }))));
    plot.redraw();
    curves.redraw();
  };
  onChange(changed);
  const axes = axesControls(choice, changed);
  const measure = list(t('Show'), choice.measures.map(({ id, name }) => [id, t(name)]), choice.measure.id, (id) => { choice.measure = choice.measures.find((each) => each.id === id)!; changed(); }).element;
  const ofMeasures = h('section', { id: 'overview', class: 'card', 'aria-labelledby': 'overview-title' },
    h('header', {}, h('h2', { id: 'overview-title' }, t('A slice of all grid points')), h('div', { class: 'controls' }, measure, toggle(t('Log y'), false, (log) => { choice.logY = log; plot.redraw(); }))),
    axes, names, plot.element, hint, zoomHint(), told);
  if (!overview.curves.some((curve) => curve !== null)) return [ofMeasures];
  return [ofMeasures, h('section', { id: 'overview-curves', class: 'card', 'aria-labelledby': 'overview-curves-title' },
    h('header', {}, h('h2', { id: 'overview-curves-title' }, t('Losses in the slice')), which), curves.element, toldOfCurves)];
}

/** Returns the cards before the charts of the few grid points. */
export function overview(report: Report, data: Overview, file: string): HTMLElement[] {
  const whole = { ...report, strategies: data.strategies.map((label) => ({ label, kind: '' })), points: [] };
  const table = pointsTable(whole, tableOf(data), file);
  const closer = h('section', { id: 'closer', class: 'card', 'aria-labelledby': 'closer-title' },
    h('header', {}, h('h2', { id: 'closer-title' }, t('A closer look at {0} grid points', data.closer_points.length))), h('p', { class: 'sentence' }, unbroken(data.closer)));
  return [...(measures(data).length > 0 ? sliceCards(report, data) : []), table, closer];
}
