// Cases whose timelines are not here: why, and the command that makes them.
import type { MissingTimelines } from '../data';
import { h } from '../dom';
import { copied } from '../foot';
import { unbroken } from '../format';
import { t } from '../language';

export const missing = ({ sentence, command }: MissingTimelines): HTMLElement =>
  h('div', { class: 'missing' }, h('p', { class: 'sentence' }, unbroken(sentence)), copied(command, t('Command')));

/** Stands in the chart's place where no case has a timeline. */
export const noTimeline = (data: MissingTimelines): HTMLElement =>
  h('section', { id: 'gantt', class: 'card', 'aria-labelledby': 'gantt-title' },
    h('header', {}, h('h2', { id: 'gantt-title' }, t('Timeline of the ranks'))), missing(data));
