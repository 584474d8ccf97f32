// Numbers for people.
import type { N } from './data';

const minus = '\u2212';
const narrow = '\u202f';
const missing = '–';
/** Numbers of more digits than this one have an exponent. */
const longest = 1e12;

/** Returns three significant digits, without an exponent if possible: 0.0213, 1,240, 3.1e-9. */
export function number(x: N, digits = 3): string {
  if (x === null || !Number.isFinite(x)) return missing;
  if (x === 0) return '0';
  const size = Math.abs(x);
  if (size >= longest || size < 1e-4) return x.toExponential(digits - 1).replace('e+', 'e').replace(/\.?0+e/, 'e').replaceAll('-', minus);
  const rounded = Number(x.toPrecision(digits));
  return rounded.toLocaleString('en-US', { maximumSignificantDigits: Math.max(digits, Math.ceil(Math.log10(size + 1))) }).replace('-', minus);
}

const scaled = (x: number, scale: number, unit: string, digits: number): string => `${number(x / scale, digits)}${narrow}${unit}`;

/** Returns seconds in a unit that fits: 12.3 µs, 4.56 s, 2.1 h. */
export function seconds(x: N, digits = 3): string {
  if (x === null || !Number.isFinite(x)) return missing;
  const size = Math.abs(x);
  if (size === 0) return `0${narrow}s`;
  if (size < 1e-6) return scaled(x, 1e-9, 'ns', digits);
  if (size < 1e-3) return scaled(x, 1e-6, 'µs', digits);
  if (size < 1) return scaled(x, 1e-3, 'ms', digits);
  if (size < 600) return scaled(x, 1, 's', digits);
  if (size < 7200) return scaled(x, 60, 'min', digits);
  if (size < 48 * 3600) return scaled(x, 3600, 'h', digits);
  return scaled(x, 86400, 'd', digits);
}

function prefixed(x: N, unit: string, digits: number): string {
  if (x === null || !Number.isFinite(x)) return missing;
  const prefixes: [number, string][] = [[1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']];
  for (const [scale, prefix] of prefixes) if (Math.abs(x) >= scale) return scaled(x, scale, prefix + unit, digits);
  return scaled(x, 1, unit, digits);
}

export const bytes = (x: N, digits = 3): string => prefixed(x, 'B', digits);
export const joules = (x: N, digits = 3): string => prefixed(x, 'J', digits);
/** Floating-point operations. */
export const operations = (x: N, digits = 3): string => prefixed(x, 'flop', digits);
export const dollars = (x: N, digits = 3): string => (x === null ? missing : `$${number(x, digits)}`);
/** Returns a share without an exponent, however small: 0.00012 %. */
export function percent(x: N): string {
  if (x === null || !Number.isFinite(x)) return missing;
  const [hundredths, size] = [100 * x, Math.abs(100 * x)];
  const tiny = size > 0 && size < 1e-3 && size >= 1e-7;
  return `${tiny ? hundredths.toFixed(1 - Math.floor(Math.log10(size) + 1e-9)).replace(/0+$/, '').replace('-', minus) : number(hundredths, size >= 99.95 ? 3 : 2)}${narrow}%`;
}
export const whole = (x: N): string => (x === null ? missing : Math.abs(x) >= longest ? number(x, 6) : Math.round(x).toLocaleString('en-US').replace('-', minus));

/** Returns a sentence in which numbers stay with their units when lines break. */
export const unbroken = (text: string): string => text.replace(/(\d) (?=(%|ns|µs|us|ms|s|min|h|d|[kMGTP]?B|[kMG]?J|Wh|kWh)(?![\w]))/g, '$1\u00a0');

/** Returns the number that a text is, if it is nothing else. */
export const numeral = (text: string): N => (/^-?\d+(\.\d+)?(e[-+]?\d+)?$/i.test(text) && Number.isFinite(Number(text)) ? Number(text) : null);

/** Returns a text as it is, but for numerals too long to be read, of which six digits stay: the table's file has all. */
export function shortNumeral(text: string): string {
  const x = numeral(text);
  return x === null || text.length <= 8 ? text : number(x, 6);
}

/** Returns the text of a table's cell, with more digits than in a chart. */
export const cell = (x: string | N): string =>
  x === null ? missing : typeof x === 'string' ? x : Number.isInteger(x) && Math.abs(x) < longest ? whole(x) : number(x, 5);
