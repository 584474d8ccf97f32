// The numbers of a chart: a table that unfolds, and a CSV file.
import { csv, download } from './csv';
import type { Table } from './data';
import { h } from './dom';
import { cell, whole } from './format';
import { t } from './language';

const mostRows = 400;

/** The file keeps the English name; "final r2" holds the metric's own name. */
function columnName(name: string): string {
  const metric = /^final (?!loss$|metric$)(.+)$/.exec(name);
  return metric ? t('final {0}', metric[1]) : t(name);
}

/** The table itself, its first rows if there are many. name: of the region, for screen readers. */
export function filled(table: Table, name = t('Table')): HTMLElement {
  const heads = table.columns.map(({ name, unit }) => h('th', { scope: 'col' }, columnName(name), unit && h('span', { class: 'unit' }, ` [${unit}]`)));
  const rows = table.rows.slice(0, mostRows).map((row) =>
    h('tr', {}, ...row.map((value) => h('td', { class: typeof value === 'string' ? null : 'number' }, cell(value)))));
  const left = table.rows.length - rows.length;
  return h('div', {},
    h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': name },
      h('table', {}, h('thead', {}, h('tr', {}, ...heads)), h('tbody', {}, ...rows))),
    left > 0 && h('p', { class: 'hint' }, t('{0} more rows are in the CSV.', whole(left))));
}

/** The button that saves a table as a file. */
export const saved = (file: string, table: () => Table): HTMLElement =>
  h('button', { type: 'button', class: 'plain', onclick: () => download(`${file}.csv`, csv(table())) }, t('Download CSV'));

/** The table is filled when it is first opened. whole: the table of the file, if it has more rows. */
export function details(table: Table, file: string, whole: () => Table = () => table): HTMLElement {
  const box = h('details', { class: 'behind' }, h('summary', {}, t('Table')));
  box.addEventListener('toggle', () => { if (box.open && box.childElementCount === 1) box.append(filled(table)); });
  return h('div', { class: 'data' }, box, saved(file, whole));
}
