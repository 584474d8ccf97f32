// A slice of a large grid: two dimensions vary, the others have one value each. The strategy is a dimension like the keys.
import type { N, Overview, OverviewNumber } from '../data';
import { dollars, joules, number, percent, seconds } from '../format';
import { t } from '../language';

export interface Dimension { name: string; values: string[] }

/** The strategy, then the keys of the grid. */
export const dimensions = ({ strategies, keys }: Overview): Dimension[] => [{ name: t('strategy'), values: strategies }, ...keys];

/** A number of the cases, with its margin if it has one. */
export interface Measure { id: OverviewNumber; margin?: OverviewNumber; name: string; format: (x: N, digits?: number) => string }

export function measures({ cases, to_target }: Overview): Measure[] {
  const to = to_target ? ' to target' : '';
  const all: Measure[] = [
    { id: 'time_s', margin: 'time_margin_s', name: to_target ? 'time to target' : 'simulated time', format: seconds },
    { id: 'cost_usd', margin: 'cost_margin_usd', name: `cost${to}`, format: dollars },
    { id: 'energy_j', margin: 'energy_margin_j', name: `energy${to}`, format: joules },
    { id: 'speedup', margin: 'speedup_margin', name: `speed-up${to}`, format: number },
    { id: 'efficiency', name: `efficiency${to}`, format: percent },
    { id: 'final_loss', name: 'final loss', format: number },
    { id: 'compute_share', name: 'share of computing', format: percent },
    { id: 'communicate_share', name: 'share of communicating', format: percent },
    { id: 'wait_share', name: 'share of waiting', format: percent },
    { id: 'down_share', name: 'share of being down', format: percent },
  ];
  return all.filter(({ id }) => cases[id]?.some((x) => x !== null && x !== 0));
}

/** fixed: the place of the value of each dimension; those of x and lines do not count. */
export interface Slice { x: number; lines: number; fixed: number[] }

/** Finds cases and grid points by the places of their values. */
export class Grid {
  private readonly cases = new Map<string, number>();
  private readonly points = new Map<string, number>();

  constructor(readonly overview: Overview) {
    overview.points.forEach((places, point) => this.points.set(places.join(), point));
    overview.cases.point.forEach((point, i) => this.cases.set([overview.cases.strategy[i], ...overview.points[point]].join(), i));
  }

  /** Returns the case at a place of the slice; undefined where there is none. */
  at({ x, lines, fixed }: Slice, atX: number, line: number): number | undefined {
    return this.cases.get(fixed.map((place, i) => (i === x ? atX : i === lines ? line : place)).join());
  }

  /** Returns the grid point of the slice at a value of x, where the lines are strategies. */
  point({ x, fixed }: Slice, atX: number): number | undefined {
    return this.points.get(fixed.slice(1).map((place, i) => (i + 1 === x ? atX : place)).join());
  }
}

const all = (names: string[]): string => (names.length < 2 ? names.join('') : t('{0} and {1}', names.slice(0, -1).join(t(', ')), names[names.length - 1]));

/** Returns the values of the dimensions that are no axes: "latency=10us, batch_size=4". */
export function fixedText({ overview }: Grid, { x, lines, fixed }: Slice): string {
  return dimensions(overview).map(({ name, values }, i) => (i === x || i === lines || values.length < 2 ? '' : `${name}=${values[fixed[i]]}`)).filter(Boolean).join(', ');
}

/** Returns who is first at each value of x, by what simgrad has found for each grid point; empty if the lines are no strategies. */
export function winnersText(grid: Grid, slice: Slice): string {
  const { overview } = grid;
  if (slice.lines !== 0 || !overview.winners || overview.strategies.length < 2) return '';
  const { name, values } = dimensions(overview)[slice.x];
  const groups: { text: string; values: string[] }[] = [];
  let alone = false;
  values.forEach((value, i) => {
    const point = grid.point(slice, i);
    if (point === undefined) return;
    const winner = overview.winners![point];
    const names = winner ? winner.strategies.map((each) => overview.strategies[each]) : [];
    const text = !winner ? t('no strategy') : winner.lead === 'unclear' ? t('no clear winner between {0}', all(names)) : all(names);
    alone ||= winner?.lead === 'one_seed';
    const last = groups[groups.length - 1];
    if (last?.text === text) last.values.push(value); else groups.push({ text, values: [value] });
  });
  const parts = groups.length === 1 ? t('{0} at every value', groups[0].text) : groups.map(({ text, values: own }) => t('{0} at {1}', text, all(own))).join(t('; '));
  const sentence = overview.by === 'time_to_target' ? t('First to the target, by {0}: {1}.', name, parts) : t('Least time per sample, by {0}: {1}.', name, parts);
  return alone && overview.remark ? `${sentence} ${overview.remark}` : sentence;
}

/** Returns the sentences on a slice: which it is, who is first, the range of the drawn numbers, and what the bands are. */
export function sliceText(grid: Grid, slice: Slice, lines: number[], measure: Measure): string {
  const fixed = fixedText(grid, slice);
  const bands = measure.margin && grid.overview.cases[measure.margin] ? t('Bands: the 95 % interval of each mean.') : '';
  return [fixed && t('Slice: {0}.', fixed), winnersText(grid, slice), rangeText(grid, slice, lines, measure), bands].filter(Boolean).join(' ');
}

/** Returns the least and the most of the drawn numbers, and where they are. lines: the places that are drawn. */
export function rangeText(grid: Grid, slice: Slice, lines: number[], measure: Measure): string {
  const all = dimensions(grid.overview);
  const column = grid.overview.cases[measure.id];
  const drawn = lines.flatMap((line) => all[slice.x].values.flatMap((text, i) => {
    const found = grid.at(slice, i, line);
    const value = found === undefined ? null : column?.[found] ?? null;
    const own = all[slice.lines].values[line];
    return value === null ? [] : [{ value, where: `${slice.lines === 0 ? own : `${all[slice.lines].name}=${own}`}, ${all[slice.x].name}=${text}` }];
  }));
  if (drawn.length === 0) return t('No case of this slice has this number.');
  const least = drawn.reduce((a, b) => (b.value < a.value ? b : a));
  const most = drawn.reduce((a, b) => (b.value > a.value ? b : a));
  const several = grid.overview.cases.seeds.some((seeds) => seeds > 1);
  const named = t(measure.name);
  const name = named.charAt(0).toUpperCase() + named.slice(1);
  if (least.value === most.value) return t('{0}: {1} in every case of this slice.', name, measure.format(least.value));
  const text = t('{0}: from {1} ({2}) to {3} ({4})', name, measure.format(least.value), least.where, measure.format(most.value), most.where);
  return several ? t('{0}, means over the seeds.', text) : t('{0}.', text);
}
