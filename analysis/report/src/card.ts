// A chart's place in the page: its title, what may be chosen, the drawing, the sentence, the numbers behind.
import type { Chart } from './data';
import { h } from './dom';
import { details } from './table';

/** Children that are null are left out. */
export function card(id: string, title: string, chart: Chart, file: string, controls: (HTMLElement | null)[], ...body: (HTMLElement | null)[]): HTMLElement {
  const choices = controls.filter((control) => control !== null);
  return h('section', { id, class: 'card', 'aria-labelledby': `${id}-title` },
    h('header', {}, h('h2', { id: `${id}-title` }, title), choices.length > 0 && h('div', { class: 'controls' }, ...choices)),
    ...body,
    h('p', { class: 'sentence' }, chart.sentence),
    details(chart.table, `${file}-${id}`));
}

export const distinct = (all: number[]): number[] => [...new Set(all)].sort((a, b) => a - b);
