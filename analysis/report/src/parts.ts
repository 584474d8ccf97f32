// The legends of the parts of time: colours, and hatches or heights that distinguish the four without colour.
import { passNames, parts, passWords, type Pass, type TimePart } from './data';
import { h } from './dom';
import { t } from './language';
import { detailColours, memoryColours, partColours, passColours, storageColour } from './palette';
import { onTheme } from './theme';

interface Key { name: string; sign: string; colour: () => string }

function legend(keys: Key[]): HTMLElement {
  const boxes = keys.map(({ sign }) => h('i', { class: sign }));
  const paint = (): void => boxes.forEach((box, i) => { box.style.setProperty('--part', keys[i].colour()); });
  paint();
  onTheme(paint);
  return h('div', { class: 'legend parts' }, ...keys.map(({ name }, i) => h('span', { class: 'key' }, boxes[i], h('span', {}, t(name)))));
}

/** signs: a class of style.css per part.  storage: whether reading and writing has a colour of its own.  passes: names of the passes that have one. */
export function partsKey(signs: string[], storage = false, passes: Pass[] = []): HTMLElement {
  const keys = parts.map((name, i) => ({ name: name as string, sign: signs[i], colour: () => partColours()[i] }));
  if (storage) keys.splice(2, 0, { name: 'storage', sign: signs[1], colour: storageColour });
  keys.unshift(...passes.map((name) => ({ name: passWords[name], sign: signs[0], colour: () => passColours()[passNames.indexOf(name)] })));
  return legend(keys);
}

/** The parts of the four. */
export const detailKey = (detail: TimePart[], signs: string[]): HTMLElement =>
  legend(detail.map(({ name, part, of }) => ({ name, sign: signs[of], colour: () => detailColours()[part] })));

/** The parts of memory. Every fourth one has the same hatch. */
export const memoryKey = (all: { name: string; part: number }[]): HTMLElement =>
  legend(all.map(({ name, part }) => ({ name, sign: ['solid', 'hatch', 'dots', 'rows'][part % 4], colour: () => memoryColours()[part] })));
