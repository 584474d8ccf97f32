// The data that simgrad writes into the page (src/outputs/report/): one object. Numbers are means over the seeds; strategies and points are indices.

/** A number, or null if there is none: not measured, not reached, not finite. */
export type N = number | null;

/** The numbers of a chart: shown as a table, downloaded as CSV. */
export interface Table { columns: { name: string; unit: string }[]; rows: (string | N)[][] }

/** about: the strategy and the grid point that the sentence speaks of. */
export interface Chart { sentence: string; table: Table; about?: Row | null }

/** A strategy at a grid point. */
export interface Row { strategy: number; point: number }

/** The first step at which a seed has diverged, the number of such seeds, and the number of points before that step. */
export interface Divergence { step: number; seeds: number; points: number }

/** A column of a series, also as a line over another of its columns: from + per × that. */
export type Amount = N[] | { of: 'step' | 'simulated_s'; from: number; per: number } | null;

export interface CurveSeries extends Row {
  seeds: number;
  step: N[]; simulated_s: N[]; epochs: N[]; cost_usd: Amount; energy_j?: Amount; bytes?: Amount; flops?: Amount;
  loss: N[]; loss_low: N[] | null; loss_high: N[] | null;
  metric: N[] | null; metric_low: N[] | null; metric_high: N[] | null;
  consensus: N[] | null;
  diverged?: Divergence | null;
  loss_floor?: N;  // the least expected loss of any model
}
export interface Curves extends Chart { series: CurveSeries[] }

export interface SpeedupSeries {
  strategy: number; text: string; workers: number[]; speedup: N[]; low: N[] | null; high: N[] | null; efficiency: N[];
  amdahl: { serial: number; workers: number[]; speedup: number[] } | null;
}
export interface Speedup extends Chart { series: SpeedupSeries[]; measure: 'throughput' | 'time_to_target' }

/** Seconds of compute, communicate, wait, down. */
export type Parts = [number, number, number, number];
/** A part of the time: its words, its number among all parts, and the one of the four that it belongs to. */
export interface TimePart { name: string; part: number; of: number }
/** detail: the parts that occur; none in results of older releases. The detail of a row has a number for each. */
export interface Time extends Chart {
  other?: Row | null;  // the case that the sentence compares with the one that it is about, if it is at another grid point
  detail: TimePart[];
  rows: (Row & { parts: Parts; detail: number[] })[];
  ranks: (Row & { names: string[]; parts: Parts[]; detail: number[][] })[];
}

/** Bytes of each of `parts` at the peak of some ranks that hold the same, as means over the seeds, and the memory of their devices. */
export interface RankMemory { name: string; bytes: number[]; limit: N }
/** part: its number among all parts.  ranks: the largest peak first. */
export interface Memory extends Chart { parts: { name: string; part: number }[]; rows: (Row & { ranks: RankMemory[] })[] }

/** A stage of a cut model: seconds of a step by each of `causes`, and the largest peak of a rank's memory. */
export interface Stage { name: string; step_s: number[]; memory: N }
/** The messages of a dimension of the mesh on links of one class: bytes of a step, and shares of the links' bandwidth. */
export interface DimensionLinks { dimension: string; link_class: string; links: number; bytes: number; utilisation: number; utilisation_max: number }
/** A rank of a picture of the mesh: its places along the picture's dimensions, and its box of each level. */
export interface MeshRank { rank: number; stage: number; places: number[]; boxes: number[] }
/** drawn: false where the picture has ranks with place 0 along the dimension alone.  levels: the smallest boxes first; ranks of one host where there is no class of links, else those joined by links of the class and of the levels before. */
export interface MeshPicture { ranks_in_all: number; dimensions: { name: string; size: number; drawn: boolean }[]; levels: { link_class: string; boxes: number }[]; ranks: MeshRank[] }
/** picture: a number in `pictures`. */
export interface Mesh extends Chart { causes: TimePart[]; pictures: MeshPicture[]; rows: (Row & { stages: Stage[]; links: DimensionLinks[]; picture: number })[] }

export interface ParetoRow extends Row { time_s: number; cost_usd: N; energy_j: N; front: boolean; front_energy: boolean }  // front: of cost and time; front_energy: of energy and time
export interface Pareto extends Chart { rows: ParetoRow[]; time_is: 'time_to_target' | 'simulated' }

export interface Staleness extends Chart { rows: (Row & { values: number[]; counts: number[] })[] }

/** Durations at equal steps of the share of requests, from 0 to 1; tpot_s is empty where answers are one token. */
export interface AnswersRow extends Row { ttft_s: number[]; tpot_s: number[]; latency_s: number[] }
export interface Answers extends Chart { rows: AnswersRow[] }

export interface Link { name: string; text?: string; from: string | null; to: string | null; bytes: number; utilisation: N }
export interface Heat { names: string[]; edges_s: number[]; values: N[][]; what: 'utilisation' | 'bytes_per_s' }
export interface Links extends Chart { rows: (Row & { whole?: boolean; links: Link[]; hosts?: { name: string; text: string }[]; heat: Heat | null })[] }  // hosts: their ranks

/** The beginning of a run, as columns: bar i is in lane[i], from from[i] to to[i]. kind: 0 compute, 1 communicate, 2 wait, 3 down. */
export interface GanttRun extends Row {
  seed: number; from_s: number; to_s: number; whole: boolean;
  lanes: string[]; ranks?: number[]; names: string[];  // ranks: the rank of each lane
  waits?: string;  // a digit per bar of waiting: its cause among `waits`
  lane: number[]; kind: number[]; name: number[]; from: number[]; to: number[]; step: N[]; peer: N[]; bytes: N[];
  micro?: N[];  // the micro-batch of each bar; only of runs on a mesh
}
export interface Gantt extends Chart { runs: GanttRun[] }
/** Why cases have no timeline here, and the command that makes those that are missing. */
export interface MissingTimelines { sentence: string; command: string }

export interface CollectiveRow extends Row {
  name: string; members: number; bytes: number; calls: number;
  predicted_s: number; simulated_s: number; skew_s: number; explanation: string;
  duration_s?: N; exposed_s?: N;  // of a member; null in results of older releases
}
export interface Collectives extends Chart { rows: CollectiveRow[] }

/** A mean over the seeds, and half of its 95 % interval. */
export type WithMargin = [mean: N, margin: N];
export interface PointsRow extends Row {
  values: string[];  // of the grid's keys
  time_s: WithMargin; cost_usd: WithMargin; energy_j: WithMargin;
  speedup: N; speedup_margin?: N; efficiency: N;  // efficiency: that speed-up over the workers
  seeds: number; reached: number; status: string; final_loss: N; binds: string;
}
export interface PointsTable extends Chart { keys: string[]; to_target: boolean; rows: PointsRow[] }

/** Two strategies of a matrix by their places in it: the mean of the differences, second less first, with its 95 % interval [s], and the corrected p-value; null where the difference is the same with every seed. */
export interface PairCell { first: number; second: number; seeds: number; difference: N; low: N; high: N; p: N }
/** strategies: those of the matrix, the smallest mean first.  left_out: strategies that are in the table alone.  tested: pairs with a p-value.  seeds: the fewest and the most that a pair has in common. */
export interface PairsRow extends Row { sentence: string; strategies: number[]; means: number[]; left_out: number; tested: number; seeds: [number, number]; cells: PairCell[] }
export interface Pairs extends Chart { to_target: boolean; rows: PairsRow[] }

/** All cases of a large experiment. cases: a column a number, null where no case has it; points: for each point the places of its values among those of each key. */
export interface Overview {
  sentence: string; to_target: boolean; by: 'time_to_target' | 'throughput' | null;  // by: null for jobs, which do not compete
  strategies: string[]; keys: { name: string; values: string[] }[]; points: number[][];
  winners?: ({ lead: 'clear' | 'equal' | 'unclear' | 'one_seed'; strategies: number[] } | null)[];  // by point: the strategies that no other is clearly ahead of
  remark?: string;  // on winners by one seed; empty where chance decides nothing
  cases: Record<OverviewNumber, N[] | null> & Record<'strategy' | 'point' | 'seeds' | 'reached' | 'status' | 'binds', number[]>;
  statuses: string[]; bindings: string[];
  curves: ({ time_s: N[]; loss: N[]; seeds?: number; diverged?: Divergence } | null)[];  // by case
  closer: string; closer_points: number[];  // the grid points whose charts follow, and why these
}
export type OverviewNumber = 'time_s' | 'time_margin_s' | 'cost_usd' | 'cost_margin_usd' | 'energy_j' | 'energy_margin_j' | 'speedup' | 'speedup_margin' | 'efficiency' | 'final_loss'
  | 'compute_share' | 'communicate_share' | 'wait_share' | 'down_share';

export interface Summary {
  headline: string;
  winners: { by: 'time' | 'throughput' | 'cost' | 'energy'; label: string; point: string; text: string; lead?: 'clear' | 'equal' | 'unclear' | 'one_seed' }[];
  bottleneck: { name: string; text: string } | null;  // the reason why the fastest is not faster
  notes: string[];
}

/** Different texts, and the place of each candidate's text among them; -1: it has none. */
export interface Texts { texts: string[]; places: number[] }
/** A column a number or text. Numbers are those of the first seed, null where none is expected yet. */
export interface PlanCandidates {
  number: number[]; label: Texts; state: Texts;
  time_s: N[]; cost_usd: N[]; energy_j: N[];
  keys: (Texts & { name: string })[];
}
/** The answer of `simgrad plan`. winner, ties, front: numbers of candidates; bounds: the limits that were set. */
export interface Plan {
  sentence: string; objective: 'cheapest' | 'fastest' | 'least_energy'; tie: string; decided: string; effort: string;
  limits: string[]; turns: string[]; winner: N; ties: number[]; front: number[];
  bounds: { limit: 'deadline' | 'budget' | 'power'; at_most: number }[];
  refused: { reason: string; count: number; text: string; fault: string; excess: number }[];  // text, fault, excess: of the nearest
  candidates: PlanCandidates;
}

export interface Report {
  schema: number; language?: string; name: string; title: string; version: string; complete: boolean;
  summary: Summary;
  strategies: { label: string; kind: string }[];
  points: { text: string; workers: number; parameters: Record<string, unknown> }[];
  target: N; metric_name: string; has_cost: boolean; has_energy: boolean;
  plan?: Plan | null;
  points_table?: PointsTable | null;
  pairs?: Pairs | null;
  overview?: Overview | null;  // of a large experiment: the charts are those of a few grid points then
  curves: Curves | null; consensus: Chart | null; speedup: Speedup | null; time: Time | null; memory?: Memory | null; mesh?: Mesh | null; pareto: Pareto | null;
  staleness: Staleness | null; answers?: Answers | null; links: Links | null; gantt: Gantt | null; missing_timelines?: MissingTimelines | null; collectives: Collectives | null;
  foot: { scenario_toml: string; seeds: number[]; command: string; version: string };
}

/** The causes of waiting, in the order of record/time_part.h; the last one: nothing is known. */
export const waits = ['waiting for a gradient', "waiting for another worker's other work", "waiting for a server's processor", 'waiting for the transfers of others',
  'waiting for a turn', 'waiting for a storage', 'waiting for a checkpoint', 'waiting for a recovery', 'wait'] as const;

/** The passes that stages of a pipeline show apart, as a timeline names them, and their words. */
export const passNames = ['forward', 'backward', 'weights', 'recompute'] as const;
export type Pass = (typeof passNames)[number];
export const passWords: Record<Pass, string> = { forward: 'forward', backward: 'backward', weights: 'gradients of parameters', recompute: 'forward once more' };

export const parts = ['compute', 'communicate', 'wait', 'down'] as const;
