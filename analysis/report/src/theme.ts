// Light or dark: as set in the system, until the reader chooses; always light on paper.

const asked = window.matchMedia('(prefers-color-scheme: dark)');
let chosen: boolean | null = null;
let onPaper = false;
const listeners: (() => void)[] = [];

export const dark = (): boolean => !onPaper && (chosen ?? asked.matches);
export const printing = (): boolean => onPaper;
/** Returns whether the reader has asked for less motion, and so gets none. */
export const still = (): boolean => window.matchMedia('(prefers-reduced-motion: reduce)').matches;

export const onTheme = (listener: () => void): void => void listeners.push(listener);

const colours = new Map<string, string>();

function apply(): void {
  colours.clear();
  document.documentElement.dataset.theme = dark() ? 'dark' : 'light';
  document.documentElement.classList.toggle('on-paper', onPaper);
  for (const listener of listeners) listener();
}

export function toggleTheme(): void {
  chosen = !dark();
  apply();
}

export function watchTheme(): void {
  apply();
  asked.addEventListener('change', apply);
  window.addEventListener('beforeprint', () => { onPaper = true; apply(); });
  window.addEventListener('afterprint', () => { onPaper = false; apply(); });
}

/** Returns a colour of the style sheet, for drawing on a canvas; looked up once per theme. */
export function variable(name: string): string {
  let value = colours.get(name);
  if (value === undefined) colours.set(name, (value = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()));
  return value;
}
