// The controls of a chart. They are native inputs, so that keyboards and screen readers work with them.
import type { Report, Row } from './data';
import { fresh, h, svg } from './dom';
import { t } from './language';
import { colour, dash, outline } from './palette';
import { change, onChange, pointOf, shown, state } from './state';
import { onTheme, variable } from './theme';

type Choice = [value: string, text: string];

/** A choice of one of a few values, side by side. */
export function segments(label: string, choices: Choice[], value: string, chosen: (value: string) => void): HTMLElement {
  const name = fresh('choice');
  return h('fieldset', { class: 'segments' }, h('legend', {}, t(label)),
    ...choices.map(([each, text]) => h('label', {},
      h('input', { type: 'radio', name, value: each, checked: each === value, onchange: () => chosen(each) }), h('span', {}, t(text)))));
}

/** A choice of one of many values, in a list. */
export function list(label: string, choices: Choice[], value: string, chosen: (value: string) => void): { element: HTMLElement; select: HTMLSelectElement } {
  const select = h('select', {}, ...choices.map(([each, text]) => h('option', { value: each, selected: each === value }, text)));
  select.addEventListener('change', () => chosen(select.value));
  return { element: h('label', { class: 'list' }, h('span', {}, t(label)), select), select };
}

export function toggle(text: string, on: boolean, changed: (on: boolean) => void): HTMLElement {
  const input = h('input', { type: 'checkbox', checked: on });
  input.addEventListener('change', () => changed(input.checked));
  return h('label', { class: 'toggle' }, input, h('span', {}, t(text)));
}

/** The grid point: one choice for all charts. A chart without data at that point draws its nearest point, and its list shows that one. */
export interface Place { element: HTMLElement | null; point: () => number; show: () => void }

/** rows: the rows that the chart can draw now; show() must be called when they change. about: the subject of the chart's sentence. */
export function place(report: Report, rows: () => Row[], about: Row | null = null): Place {
  const point = (): number => pointOf(report, rows(), about);
  if (report.points.length < 2) return { element: null, point, show: () => {} };
  const { element, select } = list(t('At'), [], '', (value) => change(() => { state.point = Number(value); state.chosen = true; }));
  let listed = '';
  const show = (): void => {
    const has = [...new Set(rows().map((row) => row.point))].sort((a, b) => a - b);
    if (has.join() !== listed)
      select.replaceChildren(...has.map((each) => h('option', { value: String(each) }, report.points[each].text || t('all'))));
    listed = has.join();
    select.value = String(point());
  };
  show();
  onChange(show);
  return { element, point, show };
}

/** A strategy's line and marker, as in the charts. plain: in grey, for lines whose dash has a meaning of its own; bare: the colour alone. */
export function swatch(strategy: number, plain = false, bare = false): Element {
  const pattern = bare ? 'solid' : dash(strategy);
  const line = svg('line', { x1: 0, x2: 28, y1: 7, y2: 7, 'stroke-width': 2.2, 'stroke-dasharray': pattern === 'solid' ? 'none' : pattern.join(' ') });
  const mark = svg('path', { d: outline(strategy), transform: 'translate(14 7)' });
  const paint = (): void => {
    const paint = plain ? variable('quiet') : colour(strategy);
    line.setAttribute('stroke', paint);
    mark.setAttribute('fill', paint);
  };
  paint();
  onTheme(paint);
  return svg('svg', { width: 28, height: 14, viewBox: '0 0 28 14', 'aria-hidden': 'true', focusable: 'false' }, line, ...(bare ? [] : [mark]));
}

/** A legend of lines that are not strategies. */
export const keys = (entries: { style: number; text: string }[], plain = false): HTMLElement =>
  h('div', { class: 'legend' }, ...entries.map(({ style, text }) => h('span', { class: 'key' }, swatch(style, plain), h('span', {}, text))));

/** The legend of a chart. A click hides a strategy in all charts, or shows it again; over() gets the strategy under the pointer or focus. bare: a strategy is a colour alone, where dashes and markers mean something else. */
export function legend(report: Report, strategies: number[], over: (strategy: number | null) => void = () => {}, bare = false): HTMLElement {
  const buttons = strategies.map((strategy) => {
    const button = h('button', { type: 'button', class: 'key' }, swatch(strategy, false, bare), h('span', {}, report.strategies[strategy].label));
    button.addEventListener('click', () => change(() => {
      if (!state.hidden.delete(strategy)) state.hidden.add(strategy);
    }));
    for (const event of ['mouseenter', 'focus']) button.addEventListener(event, () => over(strategy));
    for (const event of ['mouseleave', 'blur']) button.addEventListener(event, () => over(null));
    const show = (): void => button.setAttribute('aria-pressed', String(shown(strategy)));
    show();
    onChange(show);
    return button;
  });
  const all = h('button', { type: 'button', class: 'key all', hidden: true, onclick: () => change(() => state.hidden.clear()) }, t('Show all'));
  onChange(() => { all.hidden = !strategies.some((strategy) => !shown(strategy)); });
  return h('div', { class: 'legend', role: 'group', 'aria-label': t('Strategies: press to hide or show') }, ...buttons, all);
}
