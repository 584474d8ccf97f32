// The foot of the page: how to reproduce the numbers.
import type { Report } from './data';
import { h } from './dom';
import { t } from './language';

/** Copies text to the clipboard; if the browser refuses, the text is selected. */
async function copy(text: string, shown: HTMLElement, button: HTMLButtonElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = t('Copied');
  } catch {
    getSelection()?.selectAllChildren(shown);
    button.textContent = t('Selected: press Ctrl+C');
  }
  setTimeout(() => { button.textContent = t('Copy'); }, 2000);
}

export function copied(text: string, label: string): HTMLElement {
  const code = h('pre', { tabindex: 0, 'aria-label': label }, text);
  const button = h('button', { type: 'button', class: 'plain' }, t('Copy'));
  button.addEventListener('click', () => void copy(text, code, button));
  return h('div', { class: 'copied' }, code, button);
}

export function foot(report: Report): HTMLElement {
  const { scenario_toml, seeds, command, version } = report.foot;
  const several = seeds.length > 1;
  return h('footer', { id: 'reproduce', class: 'card' }, h('h2', {}, t('Reproduce the results')),
    h('p', {}, t('simgrad {0}, {1}. The same scenario, version and seeds give the same numbers, bit for bit.', version, several ? t('seeds {0}', seeds.join(', ')) : t('seed {0}', seeds.join('')))),
    ...(command ? [copied(command, t('Command'))] : []),
    h('details', { class: 'behind' }, h('summary', {}, t('The scenario with all defaults')), copied(scenario_toml, t('Scenario'))));
}
