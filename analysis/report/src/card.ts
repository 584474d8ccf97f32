// A chart's place in the page: its title, what may be chosen, the drawing, the sentence, the numbers behind.
import type { Chart, Table } from './data';
import { h } from './dom';
import { unbroken } from './format';
import { details } from './table';

/** file: the beginning of the CSV's name, or that and what the CSV has. Controls that are null are left out. */
export function card(id: string, title: string, chart: Chart, file: string | { file: string; whole: () => Table }, controls: (HTMLElement | null)[], ...body: (HTMLElement | null)[]): HTMLElement {
  const choices = controls.filter((control) => control !== null);
  return h('section', { id, class: 'card', 'aria-labelledby': `${id}-title` },
    h('header', {}, h('h2', { id: `${id}-title` }, title), choices.length > 0 && h('div', { class: 'controls' }, ...choices)),
    ...body,
    h('p', { class: 'sentence' }, unbroken(chart.sentence)),
    typeof file === 'string' ? details(chart.table, `${file}-${id}`) : details(chart.table, `${file.file}-${id}`, file.whole));
}

export const distinct = (all: number[]): number[] => [...new Set(all)].sort((a, b) => a - b);
