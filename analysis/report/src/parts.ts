// The legend of the four parts of time: colours, and hatches or heights that distinguish them without colour.
import { parts } from './data';
import { h } from './dom';
import { partColours } from './palette';
import { onTheme } from './theme';

/** signs: a class of style.css per part. */
export function partsKey(signs: string[]): HTMLElement {
  const boxes = parts.map((_, i) => h('i', { class: signs[i] }));
  const paint = (): void => boxes.forEach((box, i) => { box.style.setProperty('--part', partColours()[i]); });
  paint();
  onTheme(paint);
  return h('div', { class: 'legend parts' }, ...parts.map((name, i) => h('span', { class: 'key' }, boxes[i], h('span', {}, name))));
}
