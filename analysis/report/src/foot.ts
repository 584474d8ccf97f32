// The foot of the page: how to reproduce the numbers.
import type { Report } from './data';
import { h } from './dom';

/** Copies text to the clipboard; if the browser refuses, the text is selected. */
async function copy(text: string, shown: HTMLElement, button: HTMLButtonElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
  } catch {
    getSelection()?.selectAllChildren(shown);
    button.textContent = 'Selected: press Ctrl+C';
  }
  setTimeout(() => { button.textContent = 'Copy'; }, 2000);
}

function copied(text: string, label: string): HTMLElement {
  const code = h('pre', { tabindex: 0, 'aria-label': label }, text);
  const button = h('button', { type: 'button', class: 'plain' }, 'Copy');
  button.addEventListener('click', () => void copy(text, code, button));
  return h('div', { class: 'copied' }, code, button);
}

export function foot(report: Report): HTMLElement {
  const { scenario_toml, seeds, command, version } = report.foot;
  const several = seeds.length > 1;
  return h('footer', { id: 'reproduce', class: 'card' }, h('h2', {}, 'Reproduce the results'),
    h('p', {}, `simgrad ${version}, ${several ? `seeds ${seeds.join(', ')}` : `seed ${seeds.join('')}`}. The same scenario, version and seeds give the same numbers, bit for bit.`),
    copied(command, 'Command'),
    h('details', { class: 'behind' }, h('summary', {}, 'The scenario with all defaults'), copied(scenario_toml, 'Scenario')));
}
