// Numbers for people, by the rules of src/outputs/text/number_text.cpp: a test holds the two files to each other.
import type { N } from './data';

const minus = '\u2212';
const narrow = '\u202f';
const missing = '–';
/** Numbers from here on have an exponent, and so have numbers below `shortest`. */
const longest = 1e12;
const longestMoney = 1e15;
const shortest = 1e-6;
const shortestWrittenOut = 1e-9;  // of money and percentages

const known = (x: N): x is number => x !== null && Number.isFinite(x);
/** Returns a text with the signs of print: a minus, and a narrow space before a unit. */
const printed = (text: string): string => text.replaceAll('-', minus).replace(/(\d) (?=[^\d\s])/g, `$1${narrow}`);

/** Separates the thousands of a number with more whole digits than `unseparated`. */
function separated(text: string, unseparated = 4): string {
  const [, sign, whole, rest] = text.match(/^(-?)(\d+)(.*)$/)!;
  return whole.length <= unseparated ? text : sign + whole.replace(/\B(?=(\d{3})+$)/g, ',') + rest;
}

/** Returns so many decimals, rounded as C++ does: a number just between two goes to the even digit. */
function fixed(x: number, decimals: number): string {
  const exact = x.toFixed(decimals + 40);
  const at = exact.length - 40;
  const cut = exact.slice(0, at).replace(/\.$/, '');
  return /^50*$/.test(exact.slice(at)) && /[02468]$/.test(cut) ? cut : x.toFixed(decimals);
}

const decade = (x: number, digits: number): number => Number(x.toExponential(digits - 1).split('e')[1]);
const withExponent = (x: number, digits: number): string => x.toExponential(digits - 1).replace('e+', 'e');

/** Returns at least this many digits that matter, zeros at the end too. */
function allDigits(x: number, digits: number, from = shortest): string {
  if (x === 0) return '0';
  if (Math.abs(x) >= longest || Math.abs(x) < from) return withExponent(x, digits);
  return separated(fixed(x, Math.max(digits - 1 - decade(x, digits), 0)));
}

/** Leaves out zeros at the end, before an exponent too, but for the first decimals. */
function withoutZeros(text: string, decimals = 0): string {
  const [, whole, part, rest] = text.match(/^([^.e]*)(?:\.(\d*))?(.*)$/)!;
  if (part === undefined) return text;
  const kept = part.slice(0, decimals) + part.slice(decimals).replace(/0+$/, '');
  return whole + (kept ? `.${kept}` : '') + rest;
}

const plainNumber = (x: number, digits = 3): string => withoutZeros(allDigits(x, digits));

function threeDigits(x: number): string {
  const size = Math.abs(x);
  if (size >= longest || size < 0.0995) return plainNumber(x);
  return separated(fixed(x, size < 9.995 ? 2 : size < 99.95 ? 1 : 0));
}

type Unit = readonly [number, string];
type Units = readonly Unit[];
const timeUnits: Units = [[1e-9, ' ns'], [1e-6, ' µs'], [1e-3, ' ms'], [1, ' s'], [60, ' min'], [3600, ' h'], [86400, ' d']];
const secondsUnits = timeUnits.slice(0, 4);
const bytesUnits: Units = [[1, ' B'], [1e3, ' kB'], [1e6, ' MB'], [1e9, ' GB'], [1e12, ' TB'], [1e15, ' PB'], [1e18, ' EB']];
const joulesUnits: Units = [[1e-3, ' mJ'], [1, ' J'], [1e3, ' kJ'], [1e6, ' MJ'], [1e9, ' GJ'], [1e12, ' TJ']];
const flopUnits: Units = [[1, ' flop'], [1e3, ' kflop'], [1e6, ' Mflop'], [1e9, ' Gflop'], [1e12, ' Tflop'], [1e15, ' Pflop']];

/** Returns the place of the first unit in which three digits are enough. */
function fitting(x: number, units: Units): number {
  const place = units.findIndex(([size]) => Math.abs(x) / size < 999.5);
  return place < 0 ? units.length - 1 : place;
}

/** digits: more than three are those of a number that is to be compared. */
function scaled(x: number, units: Units, digits = 3): string {
  if (x === 0) return `0${units.find(([size]) => size === 1)![1]}`;
  const [size, name] = units[fitting(x, units)];
  return (digits > 3 ? plainNumber(x / size, digits) : threeDigits(x / size)) + name;
}

function wholeOrScaled(x: number, units: Units, digits = 3): string {
  return Math.abs(x) < 999.5 && Number.isInteger(x) ? `${x + 0}${units[0][1]}` : scaled(x, units, digits);
}

const secondsMost = 59.95;
const minutesMost = 48 * 60;

/** Returns the place of the first unit of the text of a duration. */
function unitOfDuration(x: number): number {
  const size = Math.abs(x);
  if (size < secondsMost) return fitting(x, secondsUnits);
  if (Math.round(size) < 3600) return 4;
  return Math.round(size / 60) < minutesMost ? 5 : 6;
}

function duration(x: number): string {
  if (x < 0) return `-${duration(-x)}`;
  if (x < secondsMost) return scaled(x, secondsUnits);
  if (x >= 1000 * 86400) return `${threeDigits(x / 86400)} d`;
  const pair = (all: number, most: number, large: string, small: string): string => `${Math.floor(all / most)} ${large} ${all % most} ${small}`;
  if (Math.round(x) < 3600) return pair(Math.round(x), 60, 'min', 's');
  return Math.round(x / 60) < minutesMost ? pair(Math.round(x / 60), 60, 'h', 'min') : pair(Math.round(x / 3600), 24, 'd', 'h');
}

/** Returns a time that is a round number in seconds, minutes, hours or days where it can be. */
function inOneUnit(x: number, digits: number): string {
  const size = Math.abs(x);
  const [unit, name] = timeUnits[size < 600 ? fitting(x, secondsUnits) : size < 7200 ? 4 : size < 172800 ? 5 : 6];
  return plainNumber(x / unit, digits) + name;
}

/** Returns significant digits, without an exponent if possible: 0.0213, 1240, 12,345, 3.1e−9. */
export const number = (x: N, digits = 3): string => (known(x) ? printed(plainNumber(x, digits)) : missing);

/** Returns seconds: 12.3 µs, 4.56 s, 3 min 20 s; of more than three digits in one unit: 200.12 s. */
export function seconds(x: N, digits = 3): string {
  if (!known(x)) return missing;
  if (digits <= 3 || x === 0) return printed(duration(x));
  return printed(inOneUnit(x, digits));
}

export const bytes = (x: N, digits = 3): string => (known(x) ? printed(wholeOrScaled(x, bytesUnits, digits)) : missing);
export const joules = (x: N, digits = 3): string => (known(x) ? printed(scaled(x, joulesUnits, digits)) : missing);
/** Floating-point operations. */
export const operations = (x: N, digits = 3): string => (known(x) ? printed(wholeOrScaled(x, flopUnits, digits)) : missing);

function money(x: number, digits: number): string {
  if (x < 0) return `-${money(-x, digits)}`;
  if (x === 0) return '$0.00';
  if (x >= longestMoney || x < shortestWrittenOut) return `$${withExponent(x, digits)}`;
  if (x >= 0.995) return `$${separated(fixed(x, digits > 3 ? Math.max(2, digits - 1 - decade(x, digits)) : 2), 3)}`;
  return `$${withoutZeros(allDigits(x, digits, shortestWrittenOut), Math.max(1 - decade(x, digits), 2))}`;
}

/** Returns cents, or two digits at least: $15,103.52, $0.50, $0.0000011. */
export const dollars = (x: N, digits = 3): string => (known(x) ? printed(money(x, Math.max(digits, 3))) : missing);

/** Returns a share without an exponent, however small: 0.00012 %. */
export function percent(x: N): string {
  if (!known(x) || !Number.isFinite(100 * x)) return missing;
  const [hundredths, size] = [100 * x, Math.abs(100 * x)];
  const thousands = size >= 999.5 && size < longest;
  return printed(`${thousands ? separated(fixed(hundredths, 0), 3) : withoutZeros(allDigits(hundredths, 2, shortestWrittenOut))} %`);
}

export const whole = (x: N): string => (known(x) ? printed(Math.abs(x) < longest ? separated((Math.round(x) + 0).toFixed(0)) : allDigits(x, 3)) : missing);

const withUnits: unknown[] = [seconds, bytes, joules, operations, dollars];

/** Returns how an axis writes its ticks: without zeros at the end, and a time with one unit, of which ticks are round numbers. */
export function onAxis(format: (x: number) => string): (x: number) => string {
  if (!withUnits.includes(format)) return (x) => format(x);  // a chart gives the place of a tick, too, which is no number of digits
  return (x) => {
    const text = format === seconds && x !== 0 ? printed(inOneUnit(x, 3)) : format(x);
    return text.replace(/(\.\d*?)0+(?=\D|$)/, '$1').replace(/\.(?=\D|$)/, '');
  };
}

export type Quantity = 'time' | 'bytes' | 'energy';
const quantities: Record<Quantity, { units: Units; place: (x: number) => number; alone: (x: number) => string }> = {
  time: { units: timeUnits, place: unitOfDuration, alone: duration },
  bytes: { units: bytesUnits, place: (x) => fitting(x, bytesUnits), alone: (x) => wholeOrScaled(x, bytesUnits) },
  energy: { units: joulesUnits, place: (x) => fitting(x, joulesUnits), alone: (x) => scaled(x, joulesUnits) },
};
const cellNumber = (x: number): string => (Math.abs(x) < 0.9995 ? plainNumber(x) : threeDigits(x));

/** Returns what writes the numbers of a column in one unit: see ColumnUnit in number_text.h. */
export function columnUnit(quantity: Quantity, column: N[]): (x: N, digits?: number) => string {
  const { units, place, alone } = quantities[quantity];
  const numbers = column.filter((x): x is number => known(x) && x !== 0);
  let at = numbers.length > 0 ? place(numbers[0]) : units.findIndex(([size]) => size === 1);
  const natural = numbers.every((x) => place(x) === at);
  if (!natural) {
    numbers.sort((a, b) => Math.abs(a) - Math.abs(b));
    const shown = [numbers[0], numbers[Math.floor(numbers.length / 2)], numbers[numbers.length - 1]];
    const costs = units.map(([size]) => {
      const letters = shown.map((x) => (Number.isFinite(x / size) ? cellNumber(x / size).length : 1000));
      return [Math.max(...letters), shown.filter((x) => Math.abs(x) < 0.9995 * size).length];
    });
    const order = (a: number[], b: number[]): number => a[0] - b[0] || a[1] - b[1];
    at = costs.reduce((best, cost, i) => (order(cost, costs[best]) <= 0 ? i : best), 0);
  }
  const [size, name] = units[at];
  const text = (x: number, digits: number): string =>
    (digits > 3 ? plainNumber(x / size, digits) + name : natural ? alone(x) : cellNumber(x / size) + name);
  return (x, digits = 3) => (!known(x) ? missing : printed(x === 0 ? `0${name}` : text(x, digits)));
}

/** Returns " ± 0.30" in the unit of the mean's text, or nothing where the margin is that of rounding. */
export function marginText(mean: number, margin: N, text: (x: N) => string): string {
  if (!known(margin) || !(margin > 1e-9 * Math.abs(mean))) return '';
  const written = text(mean).replaceAll(narrow, ' ').replaceAll(minus, '-');
  const digits = written.match(/\d[\d,]*(?:\.\d+)?(?:e-?\d+)?/);
  if (!digits || written.split(' ').length > 2 || mean === 0) return ` ± ${text(margin)}`;
  const exact = Math.abs(mean) / Number(digits[0].replaceAll(',', ''));
  let size = 10 ** Math.round(Math.log10(exact));
  for (const unit of [60, 3600, 86400]) if (Math.abs(exact / unit - 1) < Math.abs(exact / size - 1)) size = unit;
  return printed(` ± ${allDigits(margin / size, 2, shortestWrittenOut)}`);
}

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
