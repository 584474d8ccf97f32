// The candidates of a plan: their texts, their numbers, and the keys by which they differ.
import type { N, Plan, Table } from '../data';
import { columnUnit, dollars, joules, numeral, seconds } from '../format';
import { t } from '../language';

export type Measure = 'time_s' | 'cost_usd' | 'energy_j';

type Format = (x: N, digits?: number) => string;
/** column: writes the numbers of a column, in one unit. */
interface MeasureText { name: string; unit: string; format: Format; column: (numbers: N[]) => Format }
export const measureTexts: Record<Measure, MeasureText> = {
  time_s: { name: 'time', unit: 's', format: seconds, column: (numbers) => columnUnit('time', numbers) },
  cost_usd: { name: 'cost', unit: '$', format: dollars, column: () => dollars },
  energy_j: { name: 'energy', unit: 'J', format: joules, column: (numbers) => columnUnit('energy', numbers) },
};

/** What the objective of a plan is about. */
export const measureOf: Record<Plan['objective'], Measure> = { cheapest: 'cost_usd', fastest: 'time_s', least_energy: 'energy_j' };

/** The strategy, or a key of the parameters. places: of the candidates' values among the texts; order: the places in the order in which they are shown. */
export interface Dimension { name: string; texts: string[]; places: number[]; order: number[] }

const ordered = (texts: string[]): number[] => {
  const places = texts.map((_, i) => i);
  const numbers = texts.map(numeral);
  return numbers.every((x) => x !== null) ? places.sort((a, b) => numbers[a]! - numbers[b]!) : places;
};

/** The last words of keys; a key whole where another one has the same. */
function shortKeys(keys: string[]): string[] {
  const last = keys.map((key) => key.slice(key.lastIndexOf('.') + 1));
  return last.map((word, i) => (last.indexOf(word) === last.lastIndexOf(word) ? word : keys[i]));
}

function stateText(state: string): string {
  switch (state) {
    case 'whole': return t('known to its end');
    case 'begun': return t('estimated from a part of its run');
    case 'lost': return t('does not come to the goal');
    default: return t('only the least that it may take is known');
  }
}

export class Candidates {
  readonly count: number;
  /** Those with numbers. */
  readonly known: number[];
  /** Those that have numbers. */
  readonly measures: Measure[];
  /** Those with two values or more. */
  readonly dimensions: Dimension[];
  readonly winner: number | null;
  readonly front: Set<number>;
  readonly ties: Set<number>;
  private readonly keys: string[];

  constructor(readonly plan: Plan) {
    const { number, label, keys } = plan.candidates;
    this.count = number.length;
    const all = number.map((_, i) => i);
    this.measures = (['time_s', 'cost_usd', 'energy_j'] as Measure[]).filter((measure) => plan.candidates[measure].some((x) => x !== null));
    this.known = all.filter((i) => this.measures.some((measure) => this.value(measure, i) !== null));
    const dimensions = [{ name: t('strategy'), ...label }, ...keys].map((each) => ({ ...each, order: ordered(each.texts) }));
    this.dimensions = dimensions.filter(({ texts }) => texts.length > 1);
    this.keys = shortKeys(keys.map(({ name }) => name));
    const places = new Map(number.map((each, i) => [each, i]));
    const at = (numbers: number[]): number[] => numbers.map((each) => places.get(each)).filter((i): i is number => i !== undefined);
    this.winner = plan.winner === null ? null : places.get(plan.winner) ?? null;
    this.front = new Set(at(plan.front));
    this.ties = new Set(at(plan.ties));
  }

  value(measure: Measure, i: number): N { return this.plan.candidates[measure][i]; }
  label(i: number): string { return this.plan.candidates.label.texts[this.plan.candidates.label.places[i]]; }
  state(i: number): string { return stateText(this.plan.candidates.state.texts[this.plan.candidates.state.places[i]]); }

  /** Returns "workers = 4, learning_rate = 0.1", with the keys by which these candidates differ. */
  parameters(i: number, among: number[] | null = null): string {
    return this.plan.candidates.keys.map(({ texts, places }, k) =>
      (places[i] < 0 || among?.every((other) => places[other] === places[i]) ? '' : `${this.keys[k]} = ${texts[places[i]]}`)).filter(Boolean).join(', ');
  }

  text(i: number): string { return [this.label(i), this.parameters(i)].filter(Boolean).join(', '); }

  /** Returns all candidates as a table. */
  table(): Table {
    const { number, keys } = this.plan.candidates;
    const columns = [...['candidate', 'strategy', ...keys.map(({ name }) => name), 'state'].map((name) => ({ name, unit: '' })),
      ...this.measures.map((measure) => ({ name: measureTexts[measure].name, unit: measureTexts[measure].unit }))];
    const rows = number.map((each, i) => [each, this.label(i), ...keys.map(({ texts, places }) => texts[places[i]] ?? ''), this.state(i),
      ...this.measures.map((measure) => this.value(measure, i))]);
    return { columns, rows };
  }
}
