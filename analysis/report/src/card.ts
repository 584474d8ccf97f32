// The card of a chart: its title, controls, drawing, sentence and table.
import type { Chart, Table } from './data';
import { h } from './dom';
import { unbroken } from './format';
import { t } from './language';
import { details } from './table';

/** file: the beginning of the name of the CSV file, or that and the table of the file. Controls that are null are left out. */
export function card(id: string, title: string, chart: Chart, file: string | { file: string; whole: () => Table }, controls: (HTMLElement | null)[], ...body: (HTMLElement | null)[]): HTMLElement {
  const choices = controls.filter((control) => control !== null);
  return h('section', { id, class: 'card', 'aria-labelledby': `${id}-title` },
    h('header', {}, h('h2', { id: `${id}-title` }, t(title)), choices.length > 0 && h('div', { class: 'controls' }, ...choices)),
    ...body,
    h('p', { class: 'sentence' }, unbroken(chart.sentence)),
    typeof file === 'string' ? details(chart.table, `${file}-${id}`) : details(chart.table, `${file.file}-${id}`, file.whole));
}

export const distinct = (all: number[]): number[] => [...new Set(all)].sort((a, b) => a - b);
