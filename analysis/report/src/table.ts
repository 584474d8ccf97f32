// The numbers of a chart: a table that unfolds, and a CSV file.
import { csv, download } from './csv';
import type { Table } from './data';
import { h } from './dom';
import { cell } from './format';

const mostRows = 400;

function filled(table: Table): HTMLElement {
  const heads = table.columns.map(({ name, unit }) => h('th', { scope: 'col' }, name, unit && h('span', { class: 'unit' }, ` [${unit}]`)));
  const rows = table.rows.slice(0, mostRows).map((row) =>
    h('tr', {}, ...row.map((value) => h('td', { class: typeof value === 'string' ? null : 'number' }, cell(value)))));
  const left = table.rows.length - rows.length;
  return h('div', {},
    h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Table' },
      h('table', {}, h('thead', {}, h('tr', {}, ...heads)), h('tbody', {}, ...rows))),
    left > 0 && h('p', { class: 'hint' }, `${left.toLocaleString('en-US')} more rows are in the CSV.`));
}

/** The table is filled when it is first opened. whole: the table of the file, if it has more rows. */
export function details(table: Table, file: string, whole: () => Table = () => table): HTMLElement {
  const box = h('details', { class: 'behind' }, h('summary', {}, 'Table'));
  box.addEventListener('toggle', () => { if (box.open && box.childElementCount === 1) box.append(filled(table)); });
  const save = h('button', { type: 'button', class: 'plain', onclick: () => download(`${file}.csv`, csv(whole())) }, 'Download CSV');
  return h('div', { class: 'data' }, box, save);
}
