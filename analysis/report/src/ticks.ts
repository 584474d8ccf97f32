// Round numbers for axes, whatever the values: tiny, huge, equal or few.

/** Returns round numbers in [least, most], at most about `count`: multiples of 1, 2 or 5 times a power of ten. */
export function linearTicks(least: number, most: number, count: number): number[] {
  const rough = (most - least) / Math.max(count, 1);
  if (!(rough > 0) || !Number.isFinite(rough)) return [];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((lead) => lead * power).find((each) => each >= rough * 0.999) ?? rough;
  const first = Math.ceil(least / step - 1e-9);
  const all: number[] = [];
  for (let i = 0; i <= 2 * count + 2 && (first + i) * step <= most + step * 1e-9; ++i) all.push(Number(((first + i) * step).toPrecision(12)) || 0);
  return all;
}

/** Returns round numbers for a logarithmic axis from least to most: 1, 2, 5, 10, ... for few decades, else powers of ten. */
export function logTicks(least: number, most: number): number[] {
  if (!(least > 0) || !(most > least) || !Number.isFinite(most)) return [];
  const decades = Math.log10(most) - Math.log10(least);
  const all: number[] = [];
  const step = Math.max(1, Math.ceil(decades / 8));
  for (let power = Math.floor(Math.log10(least)); power <= Math.ceil(Math.log10(most)); ++power)
    for (const lead of decades < 1.2 ? [1, 1.5, 2, 3, 5, 7] : decades < 3.2 ? [1, 2, 5] : [1])
      if (power % step === 0 || decades < 3.2) all.push(Number(`${lead}e${power}`));
  const within = all.filter((tick) => tick >= least * 0.999 && tick <= most * 1.001);
  return within.length > 1 ? within : linearTicks(least, most, 4).filter((tick) => tick > 0);
}

/** Numbers beyond these would overflow on their way to the screen. */
const smallest = 1e-300;
export const largest = 1e300;
const clamp = (x: number): number => Math.min(Math.max(x, smallest), largest);

export interface Range { min: number; max: number; ticks: number[] }

/** Returns the ends of a logarithmic axis, just below and just above the positive ones of the values, and its ticks; null without such values. */
export function logRange(values: number[]): Range | null {
  let [least, most] = [Infinity, 0];
  for (const x of values) if (x > 0 && Number.isFinite(x)) { least = Math.min(least, x); most = Math.max(most, x); }
  if (most === 0) return null;
  [least, most] = [clamp(least), clamp(most)];
  const margin = Math.max(1.05, Math.exp(0.05 * (Math.log(most) - Math.log(least))));
  const [min, max] = [Math.max(least / margin, 1e-305), Math.min(most * margin, 1e305)];
  return { min, max, ticks: logTicks(min, max) };
}

/** Returns the ends and ticks of a linear axis for values that are too small, too large or too equal for ECharts' own; null where its own will do. */
export function strangeRange(values: number[], count: number, fromZero: boolean): Range | null {
  let [least, most] = [fromZero ? 0 : Infinity, fromZero ? 0 : -Infinity];
  for (const x of values) if (Number.isFinite(x)) { least = Math.min(least, x); most = Math.max(most, x); }
  if (!(most >= least)) return null;
  const size = Math.max(Math.abs(least), Math.abs(most));
  const spread = most - least;
  if (size === 0 || (spread > 1e-9 * size && size > 1e-9 && size < 1e15)) return null;
  const margin = spread > 1e-9 * size ? 0.05 * spread : 0.1 * size;
  const [min, max] = [fromZero && least === 0 ? 0 : least - margin, fromZero && most === 0 ? 0 : most + margin];
  return { min, max, ticks: linearTicks(min, max, count) };
}
