// The summary at the top: the winners by time, cost and energy, and what limits the fastest.
import type { Report } from './data';
import { h } from './dom';
import { unbroken } from './format';
import { t } from './language';
import { swatch } from './controls';

const asked = (by: 'time' | 'throughput' | 'cost' | 'energy'): string => ({ time: t('Fastest'), throughput: t('Highest throughput'), cost: t('Cheapest'), energy: t('Least energy') })[by];

export function summaryCard(report: Report): HTMLElement {
  const { headline, winners, bottleneck, notes } = report.summary;
  // Jobs that share a cluster at one grid point do not compete: none is the fastest.
  const among = (by: string, point: string): number => winners.filter((each) => each.by === by && each.point === point).length;
  const mark = (label: string): Element | null => {
    const strategy = report.strategies.findIndex((each) => each.label === label);
    return strategy < 0 ? null : swatch(strategy);
  };
  return h('section', { class: 'summary', 'aria-label': t('Summary') },
    h('p', { class: 'headline' }, unbroken(headline)),
    winners.length > 0 && h('div', { class: 'winners' }, ...winners.map(({ by, label, point, text }) =>
      h('div', { class: 'winner' }, h('h3', {}, among(by, point) > 1 ? t('Time') : asked(by)),
        h('p', { class: 'label' }, mark(label), h('span', {}, label)), point && h('p', { class: 'point' }, point), h('p', {}, unbroken(text))))),
    bottleneck?.text && h('p', { class: 'bottleneck' }, h('b', {}, t('Bottleneck of {0}: ', bottleneck.name)), unbroken(bottleneck.text)),
    notes.length > 0 && h('ul', { class: 'notes' }, ...notes.map((note) => h('li', {}, unbroken(note)))));
}
