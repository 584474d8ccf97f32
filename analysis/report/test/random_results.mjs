// Random experiments: what results.json can hold, ends of ranges included. Written for `simgrad report DIR`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { lots } from './fixture.mjs';

const kinds = ['mapreduce', 'allreduce', 'parameter_server', 'gossip', 'local_sgd', 'hogwild', 'easgd', 'sgp'];
const labels = [
  (k, i) => k, (k, i) => `${k} ${i}`, (k, i) => `${k}(consistency=ssp, staleness=${i}, compression=(kind=top_k, fraction=0.01))`,
  (k, i) => `a label that somebody wrote by hand for strategy ${i}`, (k, i) => `parameter_server(consistency=ssp, staleness=4, servers=2, gradient_compression=top_k, fraction=0.0${i + 1})`,
  (k, i) => `策略 ${i}`, (k, i) => `averylonglabelwithoutanyspaceswhichcannotbebrokenatall${i}`,
];

/** The draws of one experiment. */
function dice(seed) {
  const lot = lots(seed * 2654435761 + 12345);
  for (let i = 0; i < 8; ++i) lot();
  const pick = (all) => all[Math.floor(lot() * all.length)];
  return { lot, pick, chance: (share) => lot() < share, whole: (from, to) => from + Math.floor(lot() * (to - from + 1)), spread: (from, to) => 10 ** (from + lot() * (to - from)) };
}

/** Returns a curve's losses; null where they are not finite, as in results.json. */
function losses({ lot, pick, spread, whole }, shape, length) {
  const scale = pick([1, 1, 1, 0.5, spread(-300, -200), spread(-20, 20), spread(200, 300)]);
  const rate = lot() * 8;
  const at = {
    falls: (x) => scale * (0.01 + Math.exp(-rate * x)), flat: () => scale, zero: () => 0, negative: (x) => -scale * x,
    tiny: (x) => 10 ** (-300 * x), huge: (x) => 10 ** (308 * x), wild: (x) => scale * 10 ** (40 * x * lot()), crosses: (x) => scale * (0.5 - x),
    nan: () => null, ends: (x) => (x > 0.6 ? null : scale * 10 ** (8 * x)), noisy: (x) => scale * (Math.exp(-3 * x) + 0.2 * lot()),
  }[shape];
  return Array.from({ length }, (_, i) => {
    const value = at(length > 1 ? i / (length - 1) : whole(0, 1));
    return value !== null && Number.isFinite(value) ? value : null;
  });
}

const activities = ['idle', 'gradient', 'update', 'push', 'pull', 'allreduce', 'crash'];

function timeline({ lot, whole, chance }, run, ranks, servers) {
  const spans = { rank: [], lane: [], kind: [], name: [], step: [], peer: [], bytes: [], from_s: [], to_s: [] };
  const bars = whole(1, 60);
  const scale = run.simulated_s * (chance(0.3) ? 0.05 : 1);
  for (let rank = 0; rank < ranks; ++rank) {
    let clock = 0;
    for (let i = 0; i < bars; ++i) {
      const took = ((0.2 + lot()) * scale) / bars;
      const kind = i % 7 === 6 ? 3 : i % 3;
      const all = { rank, lane: 0, kind, name: [1, 5, 0, 6][kind], step: Math.floor(i / 3), peer: kind === 1 ? (rank + 1) % ranks : -1, bytes: kind === 1 ? 800 : 0, from_s: clock, to_s: clock + took };
      for (const [key, value] of Object.entries(all)) spans[key].push(value);
      clock += took;
    }
  }
  const workers = ranks - servers;
  return { schema: 1, run: run.id, from_s: 0, to_s: scale * 1.2, whole: chance(0.7), names: activities, ranks: Array.from({ length: ranks }, (_, i) => i),
    rank_names: Array.from({ length: ranks }, (_, i) => (i < workers ? `rank ${i} (host-${i})` : `server ${i - workers} (host-${i})`)), spans,
    messages: { source: [], target: [], bytes: [], step: [], name: [], start_s: [], end_s: [] } };
}

function network({ lot, chance }, ranks, bytes) {
  const links = [];
  const wires = [];
  for (let r = 0; r < ranks; ++r)
    for (const [end, from, to] of [['UP', `host-${r}`, 'switch-0'], ['DOWN', 'switch-0', `host-${r}`]]) {
      links.push({ link: `nic-${r}_${end}`, bytes: Math.round(bytes * lot()), utilisation: chance(0.1) ? 0 : lot(), link_class: 'nic' });
      wires.push({ link: `nic-${r}_${end}`, from, to });
    }
  return { links, wires };
}

/** The time of a member in a call, and its exposed part; results of older releases have neither. */
function divided({ lot, chance }) {
  const duration_s = lot() * 1e-3;
  return chance(0.2) ? {} : { duration_s, exposed_s: duration_s * lot() };
}

/** One run of a strategy at a grid point. */
function run(draws, settings) {
  const { lot, pick, chance, whole, spread } = draws;
  const { id, strategy, label, parameters, workers, seed, paid, fails, shape, scale, baseline } = settings;
  const servers = strategy === 'parameter_server' && !baseline ? whole(1, 2) : 0;
  const ranks = workers + servers;
  const length = baseline ? 5 : settings.length;
  const values = losses(draws, shape, length);
  const last = values[values.length - 1];
  const status = fails ? 'failed' : last === null ? 'diverged' : settings.target !== null && last <= settings.target ? 'reached' : 'stopped';
  const simulated_s = length > 1 ? scale * (0.5 + lot()) * (settings.slow ? 60 : 1) : 0;
  const metric = chance(0.7);
  const split = (total) => { const [a, b] = [lot(), lot()]; return [a * b, a * (1 - b), 1 - a].map((x) => x * total); };
  const replicas = ['gossip', 'local_sgd', 'sgp'].includes(strategy);
  const curve = values.map((loss, i) => ({ step: i * 10, simulated_s: (simulated_s * i) / Math.max(length - 1, 1), samples: i * 1000, loss, metric: metric && loss !== null ? 1 / (1 + Math.abs(loss)) : null,
    consensus_distance: replicas && loss !== null ? Math.min(1e300, Math.abs(loss) * 0.1) : null }));
  const cost = paid.cost ? simulated_s * spread(-6, 2) : null;
  const energy = paid.energy ? simulated_s * spread(0, 6) : null;
  const bytes = whole(0, 1e6);
  const time_to_target_s = status === 'reached' ? simulated_s * 0.9 : null;
  return {
    id, strategy, label, options: {}, parameters, seed, status, simulated_s, steps: (length - 1) * 10, samples: (length - 1) * 1000, epochs: length / 3, final_loss: status === 'failed' ? null : last,
    time_to_target_s, speedup_throughput: baseline || !chance(0.9) ? null : workers * (0.2 + lot()), speedup_time_to_target: time_to_target_s === null || baseline ? null : workers * (0.1 + lot()),
    efficiency: baseline ? null : 0.2 + lot(), bytes, messages: bytes, staleness_mean: strategy === 'hogwild' ? 3 * lot() : null, staleness_max: strategy === 'hogwild' ? 12 : null,
    cost_usd: cost, energy_j: energy, wall_s: 0.1, error: fails ? 'rank 3 was lost' : null, workers, metric_name: metric ? 'r2' : null, spectral_gap: strategy === 'gossip' ? lot() : null,
    crashes: settings.spot ? whole(0, 4) : null, lost_s: settings.spot ? simulated_s * 0.1 : null, recovery_s: settings.spot ? simulated_s * 0.05 : null, checkpoint_s: settings.spot ? 0 : null, goodput: settings.spot ? 0.85 : null,
    network_model: 'ideal', cost_to_target_usd: cost === null || time_to_target_s === null ? null : cost * 0.9, notes: chance(0.1) ? ['a note'] : [], interference: settings.job ? 1 + lot() : undefined,
    staleness_counts: strategy === 'hogwild' || strategy === 'parameter_server' ? Array.from({ length: whole(1, 30) }, (_, i) => [i * whole(1, 4), whole(0, 500)]).filter(([value], i, all) => i === 0 || value > all[i - 1][0]) : undefined,
    curve, hosts: Array.from({ length: ranks }, (_, i) => ({ host_class: 'host', busy_s: simulated_s * lot(), down_s: 0, serves: i >= workers, spot: settings.spot, price_usd_per_h: paid.cost ? 1 : null, idle_w: paid.energy ? 100 : null, busy_w: paid.energy ? 300 : null })),
    ranks: Array.from({ length: ranks }, (_, i) => {
      const [compute_s, communicate_s, wait_s] = split(simulated_s);
      return { rank: i, role: i < workers ? 'worker' : 'server', compute_s, communicate_s, wait_s, down_s: settings.spot ? simulated_s - compute_s - communicate_s - wait_s : 0, bytes_sent: bytes, bytes_received: bytes, host_class: 'host', host: i };
    }),
    stored_bytes: 0, ...(baseline ? { links: [] } : network(draws, ranks, bytes)),
    collectives: strategy === 'allreduce' && workers > 1 ? Array.from({ length: whole(1, 3) }, (_, i) => ({ name: pick(['ring', 'tree', 'recursive_halving_doubling']), members: workers, bytes: 800 * (i + 1), calls: 10, predicted_s: spread(-6, 0), simulated_s: spread(-6, 0), skew_s: lot() * 1e-4, ...divided(draws) })) : undefined,
    link_utilisation: settings.bins && !baseline ? Array.from({ length: 2 * ranks * 10 }, (_, i) => ({ link: `nic-${Math.floor(i / 20)}_${Math.floor(i / 10) % 2 ? 'DOWN' : 'UP'}`, from_s: ((i % 10) * simulated_s) / 10, to_s: ((i % 10 + 1) * simulated_s) / 10, bytes: 100 * lot(), utilisation: lot() })) : undefined,
  };
}

/** Returns the grid points: one of none, one or two keys. */
function grid({ whole, pick, chance }) {
  const axes = [{ 'cluster.workers': pick([[1, 2], [1, 2, 4, 8], [2, 4, 8, 16]]) }, { 'cluster.bandwidth': ['100Mbps', '1Gbps'] }, { 'training.learning_rate': [0.01, 0.1, 1] }, { 'cluster.latency': ['1us', '50us', '1ms', '20ms'] }];
  let points = [{}];
  for (let keys = whole(0, 2); keys > 0; --keys) {
    const axis = axes.splice(chance(0.5) ? 0 : Math.floor(axes.length / 2), 1)[0];
    const [key, values] = Object.entries(axis)[0];
    points = points.flatMap((point) => values.map((value) => ({ ...point, [key]: value })));
  }
  return points;
}

/** Returns the results of a random experiment, and the timelines of its first runs. */
export function experiment(number) {
  const draws = dice(number);
  const { lot, pick, chance, whole, spread } = draws;
  const points = grid(draws);
  const strategies = number % 8 === 7 ? 24 : number % 8 === 3 ? 1 : whole(1, 6);
  const seeds = strategies * points.length > 60 ? 1 : whole(1, 5);
  const [target, spot, jobs, bins] = [chance(0.6) ? spread(-3, 0) : null, chance(0.2), chance(0.1), chance(0.4)];
  const paid = { cost: chance(0.5), energy: chance(0.5) };
  const scale = pick([1, 0.05, spread(-9, 8)]);
  const [naming, ordinary] = [pick(labels), chance(0.5)];
  const base = pick([4, 8, 2]);
  const length = pick([1, 2, 2, 5, 30, 30, 300]);
  const runs = [];
  const timelines = [];
  const names = Array.from({ length: strategies }, (_, i) => ({ strategy: kinds[i % kinds.length], label: (ordinary ? labels[1] : naming)(kinds[i % kinds.length], i) }));
  for (const [s, one] of names.entries()) {
    const shape = pick(['falls', 'falls', 'falls', 'noisy', 'flat', 'zero', 'negative', 'tiny', 'huge', 'wild', 'crosses', 'nan', 'ends']);
    const slow = s > 0 && chance(0.2);
    for (const parameters of points)
      for (let seed = 1; seed <= seeds; ++seed) {
        const id = `${number.toString(16).padStart(4, '0')}${runs.length.toString(16).padStart(12, '0')}`;
        const workers = parameters['cluster.workers'] ?? base;
        runs.push(run(draws, { ...one, id, parameters, workers, seed, paid, target, spot, job: jobs, bins, scale, slow, shape: chance(0.1) ? 'ends' : shape, fails: chance(0.06), length }));
        if (seed === 1 && chance(0.7)) timelines.push(timeline(draws, runs[runs.length - 1], workers + (runs[runs.length - 1].ranks.length - workers), runs[runs.length - 1].ranks.length - workers));
      }
  }
  const scenario = { schema: 1, title: `Random experiment ${number}`, seed: 1, cluster: { workers: base, collectives: 'auto' }, stop: target === null ? { epochs: 10 } : { loss: target }, ...(jobs ? { job: names.map(({ label }) => ({ label })) } : {}) };
  const complete = chance(0.85);
  const results = { schema: 1, version: '0.1.0', name: `random_${number}`, title: `Random experiment ${number}`, complete, command: `simgrad run random_${number}.toml`, scenario, runs: complete ? runs : runs.slice(0, Math.max(1, Math.floor(runs.length * lot()))),
    baselines: [run(draws, { id: 'ba5e'.padStart(16, '0'), strategy: 'single', label: 'baseline', parameters: {}, workers: 1, seed: 1, paid, target, spot: false, scale, shape: 'falls', fails: false, length: 5, baseline: true })] };
  return { results, timelines };
}

const memoryParts = ['parameters', 'gradients', 'optimizer', 'activations', 'gathered', 'buckets', 'workspace'];

/** Gives half of the experiments the memory of their ranks and the least loss of their data, and some of them two models. The draws are not those of the rest. */
function addMemory(number, { runs, scenario }) {
  const { pick, chance, spread, whole } = dice(number + 100000);
  if (number % 2 === 0) return;
  const [limit, floor, proxied, uneven] = [pick([null, 1e6, 8e10]), chance(0.5) ? spread(-2, 1) : null, chance(0.5), chance(0.5)];
  const sizes = new Map();
  for (const each of runs) {
    const key = each.label + JSON.stringify(each.parameters);
    if (!sizes.has(key)) sizes.set(key, memoryParts.map(() => (chance(0.3) ? 0 : spread(2, pick([4, 11])))));
    for (const rank of each.ranks) {
      const held = sizes.get(key).map((bytes) => (uneven ? bytes * (1 + (rank.rank % whole(1, 3))) : bytes));
      memoryParts.forEach((part, i) => { rank[`memory_${part}_bytes`] = held[i]; });
      rank.memory_bytes = held.reduce((a, b) => a + b, 0);
      if (limit !== null) rank.memory_limit_bytes = limit * (uneven && each.label === runs[0].label ? 0.4 : 1);
    }
    if (floor !== null) each.loss_floor = floor;
    if (proxied) each.notes.push('losses are those of least_squares with 11 parameters; times, messages and bytes are those of resnet50 with 25.6 M parameters (model.timed_as)');
  }
  scenario.model = { kind: 'least_squares', ...(proxied ? { timed_as: { kind: 'resnet50' } } : {}) };
}

/** Returns the name of a run's files, as src/outputs/files/run_stem.cpp makes it. */
function stemOf(run) {
  const plain = (text) => text.toLowerCase().replace(/[^a-z0-9_]+/g, '-').replace(/^-/, '').slice(0, 40).replace(/-+$/, '');
  return `${plain(run.label) || 'run'}-w${run.workers}-s${run.seed}-${plain(run.id)}`;
}

/** Writes the experiment as the directory of its results. */
export function writeExperiment(directory, number) {
  const { results, timelines } = experiment(number);
  addMemory(number, results);
  mkdirSync(join(directory, 'timelines'), { recursive: true });
  writeFileSync(join(directory, 'results.json'), JSON.stringify(results));
  for (const each of timelines) {
    const run = results.runs.find(({ id }) => id === each.run);  // some runs are left out
    if (run) writeFileSync(join(directory, 'timelines', `${stemOf(run)}.json.gz`), gzipSync(JSON.stringify(each)));
  }
}
