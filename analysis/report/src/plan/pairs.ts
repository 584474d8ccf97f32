// The best of each pair of values: a table whose cells have the colours of their numbers.
import { list } from '../controls';
import { h } from '../dom';
import { t } from '../language';
import { ramp, ramped } from '../palette';
import { onTheme } from '../theme';
import { measureOf, measureTexts, type Candidates, type Dimension } from './candidates';

/** The least number of a pair, and the candidate that has it. */
interface Best { value: number; candidate: number }

/** Returns the best of each row and column; undefined where no candidate has both values and a number. */
export function bests(all: Candidates, rows: Dimension, columns: Dimension): (Best | undefined)[][] {
  const measure = measureOf[all.plan.objective];
  const cells: (Best | undefined)[][] = rows.texts.map(() => columns.texts.map(() => undefined));
  for (const candidate of all.known) {
    const value = all.value(measure, candidate);
    const [row, column] = [rows.places[candidate], columns.places[candidate]];
    if (value === null || row < 0 || column < 0) continue;
    const best = cells[row][column];
    if (!best || value < best.value) cells[row][column] = { value, candidate };
  }
  return cells;
}

/** Returns the share of the way from the least to the most, by factors where all are positive. */
function shareOf(least: number, most: number): (value: number) => number {
  const scale = least > 0 ? Math.log : (x: number): number => x;
  const far = scale(most) - scale(least);
  return (value) => (far > 0 ? (scale(value) - scale(least)) / far : 0);
}

/** Black or white, whichever is told apart better (WCAG 2.2, 1.4.3: relative luminance). */
function inkOn(background: string): string {
  const [r, g, b] = background.match(/\d+/g)!.map((each) => Number(each) / 255).map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
  const luminance = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.05 ? '#ffffff' : '#000000';
}

/** Returns the number of digits that shows a hundredth of the way from the least to the most: three to six. */
function digitsOf(least: number, most: number): number {
  const steps = (100 * Math.max(Math.abs(least), Math.abs(most))) / (most - least);
  return Number.isFinite(steps) ? Math.min(Math.max(Math.ceil(Math.log10(steps)), 3), 6) : 3;
}

/** Returns the table, and paints it in the present theme. */
function tableOf(all: Candidates, rows: Dimension, columns: Dimension): { element: HTMLElement; paint: () => void; range: [number, number] } {
  const cells = bests(all, rows, columns);
  let [least, most] = [Infinity, -Infinity];
  for (const best of cells.flat()) if (best) { least = Math.min(least, best.value); most = Math.max(most, best.value); }
  const share = shareOf(least, most);
  const format = measureTexts[measureOf[all.plan.objective]].column(cells.flat().map((best) => best?.value ?? null));
  const digits = digitsOf(least, most);
  const painted: [HTMLElement, number][] = [];
  const cell = (best: Best | undefined): HTMLElement => {
    if (!best) return h('td', { class: 'unknown' }, t('refused or not known'));
    const element = h('td', { class: best.value === least ? 'number least' : 'number', title: all.text(best.candidate) }, format(best.value, digits));
    painted.push([element, share(best.value)]);
    return element;
  };
  const head = h('tr', {}, h('th', { scope: 'col' }, h('div', {}, `${rows.name} ↓`), h('div', {}, `${columns.name} →`)), ...columns.order.map((column) => h('th', { scope: 'col' }, columns.texts[column])));
  const body = rows.order.map((row) => h('tr', {}, h('th', { scope: 'row' }, rows.texts[row]), ...columns.order.map((column) => cell(cells[row][column]))));
  const paint = (): void => {
    for (const [element, at] of painted) {
      const background = ramped(at);
      element.style.background = background;
      element.style.color = inkOn(background);
    }
  };
  return { element: h('table', {}, h('thead', {}, head), h('tbody', {}, ...body)), paint, range: [least, most] };
}

/** The number of cells above which a pair is not shown first. */
const fewCells = 400;

/** Returns the first two dimensions to show: those with most values, as long as they are not too many. */
function firstPair(all: Dimension[]): [Dimension, Dimension] {
  const [first, ...others] = all;
  const most = others.filter(({ texts }) => texts.length * first.texts.length <= fewCells).sort((a, b) => b.texts.length - a.texts.length);
  return [first, most[0] ?? others[0]];
}

/** Returns the heat map with its two lists; nothing where fewer than two keys have two values. */
export function pairs(all: Candidates): HTMLElement | null {
  const measure = measureOf[all.plan.objective];
  const { dimensions } = all;
  if (dimensions.length < 2 || !all.known.some((i) => all.value(measure, i) !== null)) return null;
  const { name, format } = measureTexts[measure];
  let [rows, columns] = firstPair(dimensions);
  const region = h('div', { class: 'scroll pairs', tabindex: 0, role: 'region', 'aria-label': t('The best of each pair of values') });
  const [strip, from, to] = [h('i', { class: 'ramp' }), h('b', {}), h('b', {})];
  let paintCells = (): void => {};
  const paint = (): void => {
    strip.style.background = `linear-gradient(to right, ${ramp().join(',')})`;
    paintCells();
  };
  const choices = dimensions.map((each, i): [string, string] => [String(i), each.name]);
  const place = (of: Dimension): string => String(dimensions.indexOf(of));
  // A dimension chosen twice: the two change places.
  const ofRows = list(t('Rows'), choices, place(rows), (value) => {
    const next = dimensions[Number(value)];
    if (next === columns) columns = rows;
    rows = next;
    fill();
  });
  const ofColumns = list(t('Columns'), choices, place(columns), (value) => {
    const next = dimensions[Number(value)];
    if (next === rows) rows = columns;
    columns = next;
    fill();
  });
  function fill(): void {
    [ofRows.select.value, ofColumns.select.value] = [place(rows), place(columns)];
    const { element, paint: cells, range } = tableOf(all, rows, columns);
    paintCells = cells;
    [from.textContent, to.textContent] = range.map((x) => format(Number.isFinite(x) ? x : null));
    region.replaceChildren(element);
    paint();
  }
  fill();
  onTheme(paint);
  return h('section', { class: 'part', 'aria-labelledby': 'plan-pairs' },
    h('header', {}, h('h3', { id: 'plan-pairs' }, t('The best of each pair of values')), h('div', { class: 'controls' }, ofRows.element, ofColumns.element)),
    region, h('p', { class: 'scale' }, from, strip, to),
    h('p', { class: 'hint' }, t('Each cell: the least {0} of the candidates with both values, whether or not they keep the limits. Edged: the least of all.', t(name))));
}
