// Pairs: the matrix of the strategies of a grid point, with the p-values of pairs.csv.
import { card } from '../card';
import { place, swatch } from '../controls';
import type { N, PairCell, Pairs, PairsRow, Report } from '../data';
import { h } from '../dom';
import { percent, seconds } from '../format';
import { t } from '../language';
import { onChange } from '../state';

const significant = 0.05;

/** Returns a p-value with three decimals, on the side of 0.05 on which it is. */
function pValue(p: N): string {
  if (p === null) return '–';
  if (p < 0.001) return '<0.001';
  const text = p.toFixed(3);
  return p < significant && text === '0.050' ? '<0.050' : text;
}

/** Returns how much longer the slower strategy of a pair takes, as a share of the other's mean: +12 %. */
function longer({ difference }: PairCell, mean: number): string {
  const share = difference === null || mean <= 0 ? null : difference / mean;
  if (share === null || !Number.isFinite(share)) return '';
  return Math.abs(share) < 1e-9 ? '0 %' : `${share > 0 ? '+' : ''}${percent(share)}`;
}

/** Returns a pair in words, for a pointer over its cell. */
function words({ seeds, difference, low, high, p }: PairCell, faster: string, slower: string, mean: number): string {
  if (p === null && Math.abs(difference ?? 0) <= 1e-12 * mean) return t('{0} and {1} take the same time with every seed', slower, faster);
  const less = (difference ?? 0) < 0;
  if (p === null) return less ? t('{0} takes {1} less than {2} with every seed', slower, seconds(-difference!), faster)
    : t('{0} takes {1} longer than {2} with every seed', slower, seconds(difference), faster);
  const told = less ? t('{0} takes {1} less than {2} on average over {3} seeds', slower, seconds(-difference!), faster, seeds)
    : t('{0} takes {1} longer than {2} on average over {3} seeds', slower, seconds(difference), faster, seeds);
  const [from, to] = less ? [-high!, -low!] : [low, high];
  return t('{0} (95 % interval: {1} to {2}); corrected p: {3}', told, seconds(from), seconds(to), pValue(p));
}

const range = ([least, most]: [number, number]): string => (least === most ? String(most) : t('{0} to {1}', least, most));

/** Returns what a matrix compares, for its caption. */
function caption(report: Report, data: Pairs, row: PairsRow): string {
  const measure = t(data.to_target ? 'time to target' : 'time per sample');
  const { text } = report.points[row.point];
  const what = text ? t('Differences in {0} at {1}', measure, text) : t('Differences in {0}', measure);
  if (row.tested === 0) return t('{0}, over {1} seeds.', what, range(row.seeds));
  return row.tested === 1 ? t('{0}: p-value of the paired t test over {1} seeds.', what, range(row.seeds))
    : t('{0}: p-values of paired t tests over {1} seeds, corrected by the Holm method for {2} pairs.', what, range(row.seeds), row.tested);
}

/** Returns how the matrix is read. */
function key({ strategies, cells, left_out: left }: PairsRow): string {
  const all = strategies.length * (strategies.length - 1) / 2;
  return [
    cells.some(({ p }) => p !== null && p < significant) && t('Bold, with a star: p below 0.05, more than chance.'),
    cells.some(({ p }) => p === null) && t('Dash: the difference is the same with every seed, so no test is needed.'),
    cells.length < all && t('Empty: fewer than two seeds in common.'),
    t('With a sign: how much longer the strategy of the row takes than that of the column.'),
    strategies.length > 2 && t('Strategies are in the order of their means, the fastest first.'),
    left > 0 && (left === 1 ? t('1 slower strategy is in the table below only.') : t('{0} slower strategies are in the table below only.', left)),
  ].filter((text): text is string => text !== false).reduce((all, text) => t('{0} {1}', all, text));
}

function matrix(report: Report, data: Pairs, row: PairsRow): HTMLElement {
  const label = (place: number): string => report.strategies[row.strategies[place]].label;
  const cells = new Map(row.cells.map((each) => [`${each.first} ${each.second}`, each]));
  const cell = (first: number, second: number): HTMLElement => {
    const pair = cells.get(`${first} ${second}`);
    if (!pair) return h('td', {});
    const sure = pair.p !== null && pair.p < significant;
    const share = longer(pair, row.means[first]);
    return h('td', { class: sure ? 'sure' : null, title: words(pair, label(first), label(second), row.means[first]) },
      h(sure ? 'b' : 'span', {}, sure ? `${pValue(pair.p)}\u00a0*` : pValue(pair.p)), share !== '' && h('div', { class: 'share' }, share));
  };
  const last = row.strategies.length - 1;
  const places = Array.from({ length: last }, (_, i) => i);
  return h('table', {}, h('caption', {}, h('span', {}, caption(report, data, row))),
    h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, h('div', {}, t('slower ↓')), h('div', {}, t('faster →'))), ...places.map((i) => h('th', { scope: 'col' }, label(i))))),
    h('tbody', {}, ...places.map((i) => h('tr', {},
      h('th', { scope: 'row' }, h('span', { class: 'named' }, swatch(row.strategies[i + 1]), h('span', {}, label(i + 1)))),
      ...places.map((j) => (j <= i ? cell(j, i + 1) : h('td', { class: 'none' })))))));
}

export function pairs(report: Report, data: Pairs, file: string): HTMLElement {
  const at = place(report, () => data.rows);
  const region = h('div', { class: 'scroll pairs matrix', tabindex: 0, role: 'region', 'aria-label': t('p-values of the pairs of strategies') });
  const [reading, told] = [h('p', { class: 'reading' }), h('p', { class: 'told', hidden: data.rows.length < 2 })];
  const show = (): void => {
    const row = data.rows.find(({ point }) => point === at.point())!;
    region.replaceChildren(matrix(report, data, row));
    reading.textContent = key(row);
    told.textContent = t('{0}: {1}', report.points[row.point].text, row.sentence);
  };
  show();
  onChange(show);
  return card('pairs', t('Which differences are more than chance'), data, file, [at.element], region, reading, told);
}
