// The answer of `simgrad plan`: the winner, all candidates, what the limits cost, what would change the winner, and what cannot be run.
import type { Plan, Report, Table } from '../data';
import { h } from '../dom';
import { percent, unbroken, whole } from '../format';
import { t } from '../language';
import { details, filled, saved } from '../table';
import { Candidates } from './candidates';
import { pairs } from './pairs';
import { scatter } from './scatter';

function part(id: string, title: string, ...body: (HTMLElement | null)[]): HTMLElement {
  return h('section', { class: 'part', 'aria-labelledby': id }, h('header', {}, h('h3', { id }, title)), ...body);
}

const items = (texts: string[]): HTMLElement => h('ul', { class: 'reasons' }, ...texts.map((text) => h('li', {}, unbroken(text))));

function refusedTable({ refused }: Plan): Table {
  const sized = refused.some(({ excess }) => excess > 0);
  const columns = ['reason', 'candidates', 'the nearest', 'its fault', ...(sized ? ['too large by'] : [])];
  return {
    columns: columns.map((name) => ({ name, unit: '' })),
    rows: refused.map(({ reason, count, text, fault, excess }) => [reason, count, text, fault, ...(sized ? [excess > 0 ? percent(excess) : ''] : [])]),
  };
}

function refusedPart(plan: Plan, file: string): HTMLElement | null {
  if (plan.refused.length === 0) return null;
  const count = plan.refused.reduce((sum, each) => sum + each.count, 0);
  const table = refusedTable(plan);
  return part('plan-refused', t('Cannot be run'),
    h('p', {}, count === 1 ? t('1 of the candidates cannot be run.') : t('{0} of the candidates cannot be run.', whole(count))),
    filled(table, t('Cannot be run')), h('div', { class: 'saves' }, saved(`${file}-refused`, () => table)));
}

export function planCard(report: Report, plan: Plan, file: string): HTMLElement {
  const candidates = new Candidates(plan);
  const chart = scatter(report, candidates);
  const controls = (chart?.controls ?? []).filter((control) => control !== null);
  const paragraph = (text: string, style: string): HTMLElement | null => (text === '' ? null : h('p', { class: style }, unbroken(text)));
  return h('section', { id: 'plan', class: 'card plan', 'aria-labelledby': 'plan-title' },
    h('header', {}, h('h2', { id: 'plan-title' }, t('The plan')), controls.length > 0 && h('div', { class: 'controls' }, ...controls)),
    paragraph(plan.sentence, 'answer'), paragraph(plan.tie, 'told tie'), paragraph(plan.decided, 'told decided'),
    ...(chart?.body ?? []),
    pairs(candidates),
    plan.limits.length > 0 && part('plan-limits', t('What the limits cost'), items(plan.limits)),
    plan.turns.length > 0 && part('plan-turns', t('What would change the winner'), items(plan.turns)),
    refusedPart(plan, file),
    paragraph(plan.effort, 'hint'),
    details(candidates.table(), `${file}-plan`));
}
