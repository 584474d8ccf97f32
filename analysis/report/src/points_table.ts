// The table of all points: sortable by each column, filtered by words, downloaded as CSV.
import { csv, download } from './csv';
import { swatch } from './controls';
import type { N, PointsRow, PointsTable, Report, WithMargin } from './data';
import { h } from './dom';
import { columnUnit, dollars, marginText, number, numeral, percent, shortNumeral, unbroken, whole } from './format';
import { t } from './language';

type Key = string | N;

interface Column {
  name: string;
  key: (row: PointsRow) => Key;  // to sort by
  show: (row: PointsRow) => (Node | string)[];
  words?: (row: PointsRow) => string;  // to filter by, if show() makes more than text
}

const longestBrief = 19;  // letters of a text that stays on one line
const rowsAtOnce = 400;  // more are shown on demand

const style = `
.points input { font: inherit; font-size: 13px; color: var(--ink); background: var(--surface); border: 1px solid var(--axis); border-radius: 6px; height: 28px; padding: 0 8px; width: min(260px, 100%); }
.points th, .points td { padding-left: 6px; padding-right: 6px; }
.points th { vertical-align: bottom; white-space: normal; }
.points th button { font: inherit; font-weight: 600; color: inherit; background: none; border: 0; padding: 0; cursor: pointer; text-align: left; }
.points td { max-width: none; }
.points td.words { min-width: 13ch; }
.points td.brief, .points .brief { white-space: nowrap; }
.points th button:hover { color: var(--accent); }
.points th[aria-sort] button::after { content: " \\2195"; color: var(--quiet); }
.points th[aria-sort="ascending"] button::after { content: " \\2191"; color: var(--accent); }
.points th[aria-sort="descending"] button::after { content: " \\2193"; color: var(--accent); }
.points th:first-child, .points td:first-child { position: sticky; left: 0; background: var(--surface); z-index: 1; }
.points th { z-index: 2; }
.points th:first-child { z-index: 3; }
.points td:first-child > span { display: flex; gap: 6px; align-items: center; min-width: 9em; }
.points td:first-child > span > span { min-width: 0; overflow-wrap: anywhere; }
.points td:first-child svg { flex: none; }
.points .margin { color: var(--quiet); }
.points .tools { margin-top: 8px; }
@media (max-width: 720px) { .points td:first-child { max-width: 42vw; } .points td:first-child .brief { white-space: normal; } .points input { height: 32px; } }
@media print { .points .scroll { max-height: none; overflow: visible; } .points input, .points .tools { display: none; } }
`;

/** Orders numbers by size and texts as people do ("8" before "16"); what is missing comes last, in either order. */
export function order(a: Key, b: Key, down: boolean): number {
  if (a === null || b === null || a === '' || b === '') return Number(a === null || a === '') - Number(b === null || b === '');
  const sign = down ? -1 : 1;
  if (typeof a === 'number' && typeof b === 'number') return sign * (a - b);
  return sign * String(a).localeCompare(String(b), 'en', { numeric: true });
}

function withMargin([mean, margin]: WithMargin, text: (x: N) => string): (Node | string)[] {
  const beside = mean === null ? '' : marginText(mean, margin, text);
  return beside === '' ? [text(mean)] : [text(mean), h('span', { class: 'margin' }, beside)];
}

function columnsOf(report: Report, chart: PointsTable): Column[] {
  const to = chart.to_target ? ' to target' : '';
  const all: Column[] = [{
    name: t('strategy'),
    key: ({ strategy }) => report.strategies[strategy].label,
    words: ({ strategy }) => report.strategies[strategy].label,
    show: ({ strategy }) => [h('span', {}, swatch(strategy), h('span', { class: report.strategies[strategy].label.length <= longestBrief ? 'brief' : null }, report.strategies[strategy].label))],
  }];
  chart.keys.forEach((name, i) => {
    const numbers = chart.rows.every(({ values }) => numeral(values[i]) !== null);
    // Values stay different: where six digits are too few, all are shown.
    const different = (text: (value: string) => string): number => new Set(chart.rows.map(({ values }) => text(values[i]))).size;
    const short = different(shortNumeral) === different(String) ? shortNumeral : String;
    all.push({ name, key: ({ values }) => (numbers ? numeral(values[i]) : values[i]), show: ({ values }) => [short(values[i])] });
  });
  const plain = (name: string, of: (row: PointsRow) => N, text: (x: N) => string): void => {
    if (chart.rows.some((row) => of(row) !== null)) all.push({ name: t(name), key: of, show: (row) => [text(of(row))] });
  };
  const mean = (name: string, of: (row: PointsRow) => WithMargin, text: (x: N) => string): void => {
    if (chart.rows.some((row) => of(row)[0] !== null)) all.push({ name: t(name), key: (row) => of(row)[0], show: (row) => withMargin(of(row), text) });
  };
  mean(chart.to_target ? 'time to target' : 'simulated time', ({ time_s }) => time_s, columnUnit('time', chart.rows.map(({ time_s }) => time_s[0])));
  mean(`cost${to}`, ({ cost_usd }) => cost_usd, dollars);
  mean(`energy${to}`, ({ energy_j }) => energy_j, columnUnit('energy', chart.rows.map(({ energy_j }) => energy_j[0])));
  mean(`speed-up${to}`, ({ speedup, speedup_margin }) => [speedup, speedup_margin ?? null], (x) => (x === null ? '–' : `${number(x)}×`));
  plain(`efficiency${to}`, ({ efficiency }) => efficiency, percent);
  if (chart.to_target)
    all.push({ name: t('target reached'), key: ({ reached, seeds }) => reached / seeds, show: ({ reached, seeds }) => [t('{0} of {1}', reached, seeds)] });
  all.push({ name: t('status'), key: ({ status }) => status, show: ({ status }) => [status] });
  plain('final loss', ({ final_loss }) => final_loss, (x) => number(x, 4));
  if (chart.rows.some(({ binds }) => binds !== '')) all.push({ name: t('binds'), key: ({ binds }) => binds, show: ({ binds }) => [binds] });
  return all;
}

export function pointsTable(report: Report, chart: PointsTable, file: string): HTMLElement {
  const columns = columnsOf(report, chart);
  const numeric = columns.map(({ key }) => chart.rows.some((row) => typeof key(row) === 'number'));
  const elementOf = (row: PointsRow): HTMLElement => {
    // A short text stays on one line, so that rows are low; a long one breaks.
    const cells = columns.map(({ show }, i) => {
      const shown = show(row);
      const brief = i > 0 && shown.every((part) => typeof part === 'string' && part.length <= longestBrief);
      return h('td', { class: numeric[i] ? 'number' : brief ? 'brief' : i > 0 ? 'words' : null }, ...shown);
    });
    return h('tr', {}, ...cells);
  };
  const text = (part: Node | string): string => (typeof part === 'string' ? part : part.textContent ?? '');
  const wordsOf = (row: PointsRow): string => columns.map(({ show, words }) => (words ? words(row) : show(row).map(text).join(''))).join(' ').toLowerCase();
  // A large table has elements for the rows that are shown, and words once they are asked for.
  const rows = chart.rows.map((row): { row: PointsRow; element?: HTMLElement; words?: string } => ({ row }));
  let most = rowsAtOnce;
  const body = h('tbody', {});
  const heads = columns.map(({ name }, i) =>
    h('th', { scope: 'col', 'aria-sort': 'none' }, h('button', { type: 'button', onclick: () => sort(i) }, name)));
  const found = h('p', { class: 'hint', 'aria-live': 'polite' });
  const filter = h('input', { type: 'search', placeholder: t('Filter rows'), 'aria-label': t('Filter rows by words') });
  const more = h('button', { type: 'button', class: 'plain', onclick: () => { most += rowsAtOnce; fill(); } });
  let by: { column: number; down: boolean } | null = null;

  const fill = (): void => {
    const words = filter.value.toLowerCase().split(/\s+/).filter((word) => word !== '');
    const left = rows.filter((each) => words.length === 0 || words.every((word) => (each.words ??= wordsOf(each.row)).includes(word)));
    if (by) {
      const { column, down } = by;
      left.sort((a, b) => order(columns[column].key(a.row), columns[column].key(b.row), down));
    }
    body.replaceChildren(...left.slice(0, most).map((each) => (each.element ??= elementOf(each.row))));
    const rest = left.length - most;
    more.hidden = rest <= 0;
    more.textContent = rest > 0 ? t('Show {0} more rows ({1} are left)', Math.min(rowsAtOnce, rest), whole(rest)) : '';
    found.textContent = left.length === rows.length ? '' : t('{0} of {1} rows', left.length, rows.length);
  };
  function sort(column: number): void {
    by = { column, down: by?.column === column && !by.down };
    heads.forEach((head, i) => head.setAttribute('aria-sort', i !== column ? 'none' : by!.down ? 'descending' : 'ascending'));
    fill();
  }
  filter.addEventListener('input', () => { most = rowsAtOnce; fill(); });
  fill();
  return h('section', { id: 'points', class: 'card points', 'aria-labelledby': 'points-title' },
    h('style', {}, style),
    h('header', {}, h('h2', { id: 'points-title' }, t('All results')), h('div', { class: 'controls' }, filter)),
    h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': t('All results, sortable') },
      h('table', {}, h('thead', {}, h('tr', {}, ...heads)), body)),
    found,
    h('p', { class: 'sentence' }, unbroken(chart.sentence)),
    h('div', { class: 'tools' }, more,
      h('button', { type: 'button', class: 'plain', onclick: () => download(`${file}-points.csv`, csv(chart.table)) }, t('Download CSV'))));
}
