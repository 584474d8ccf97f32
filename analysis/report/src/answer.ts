// What comes first: which strategy wins, and what binds it.
import type { Report } from './data';
import { h } from './dom';
import { unbroken } from './format';
import { swatch } from './controls';

const asked = { time: 'Fastest', cost: 'Cheapest', energy: 'Least energy' };

export function answer(report: Report): HTMLElement {
  const { headline, lines, binds, notes } = report.answer;
  // Jobs beside each other at one point are no rivals: none is the fastest.
  const among = (by: string, point: string): number => lines.filter((line) => line.by === by && line.point === point).length;
  const winner = (label: string): Element | null => {
    const strategy = report.strategies.findIndex((each) => each.label === label);
    return strategy < 0 ? null : swatch(strategy);
  };
  return h('section', { class: 'answer', 'aria-label': 'The answer' },
    h('p', { class: 'headline' }, unbroken(headline)),
    lines.length > 0 && h('div', { class: 'winners' }, ...lines.map(({ by, label, point, text }) =>
      h('div', { class: 'winner' }, h('h3', {}, among(by, point) > 1 ? 'Time' : asked[by]),
        h('p', { class: 'label' }, winner(label), h('span', {}, label)), point && h('p', { class: 'point' }, point), h('p', {}, unbroken(text))))),
    binds?.text && h('p', { class: 'binds' }, h('b', {}, `What binds ${binds.who}: `), unbroken(binds.text)),
    notes.length > 0 && h('ul', { class: 'notes' }, ...notes.map((note) => h('li', {}, unbroken(note)))));
}
