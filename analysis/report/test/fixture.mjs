// A made-up report: as many strategies, sizes and bars as asked for. The numbers are those of no simulation.

const kinds = ['mapreduce', 'allreduce', 'parameter_server', 'gossip', 'local_sgd', 'hogwild', 'allreduce', 'easgd'];
const labels = ['mapreduce', 'allreduce ring', 'async PS', 'gossip on a ring', 'local SGD, H = 16', 'hogwild', 'allreduce tree', 'EASGD'];

/** Numbers that look drawn by lot and are the same in each run (a linear congruential generator). */
export function lots(seed) {
  let state = seed >>> 0;
  return () => (state = (1664525 * state + 1013904223) >>> 0) / 2 ** 32;
}

const table = (columns, rows) => ({ columns: columns.map(([name, unit]) => ({ name, unit })), rows });

function curve(strategy, point, workers, length, lot) {
  const speed = (0.4 + 0.15 * strategy) / (1 + 0.02 * workers * ((strategy * 3) % 4));
  const rows = Array.from({ length }, (_, i) => i);
  const loss = rows.map((i) => 0.012 + 0.5 * Math.exp(-(i / length) * 7 * speed) * (1 + 0.04 * (lot() - 0.5)));
  return {
    strategy, point, seeds: 5, step: rows, simulated_s: rows.map((i) => (i * (0.02 + 0.1 / workers)) / speed), epochs: rows.map((i) => i / 8),
    cost_usd: rows.map((i) => i * 1e-5 * workers / speed), loss, loss_low: loss.map((x) => x * 0.9), loss_high: loss.map((x) => x * 1.1),
    metric: loss.map((x) => 1 - x), metric_low: null, metric_high: null,
    consensus: kinds[strategy] === 'gossip' || kinds[strategy] === 'easgd' ? loss.map((x) => x * 0.3) : null,
  };
}

function ganttRun(strategy, point, ranks, bars, lot) {
  const run = { strategy, point, seed: 1, from_s: 0, to_s: 0, whole: false, lanes: Array.from({ length: ranks }, (_, r) => `rank ${r} (host-${r})`),
    names: ['gradient', 'allreduce', 'barrier', 'crash'], lane: [], kind: [], name: [], from: [], to: [], step: [], peer: [], bytes: [] };
  const clocks = new Array(ranks).fill(0);
  for (let i = 0; i < bars; ++i) {
    const [lane, part] = [i % ranks, Math.floor(i / ranks) % 3];
    const took = [0.010, 0.006, 0.003][part] * (0.6 + 0.8 * lot()) * (1 + 0.2 * strategy);
    run.lane.push(lane); run.kind.push(part); run.name.push(part);
    run.from.push(clocks[lane]); run.to.push((clocks[lane] += took));
    run.step.push(Math.floor(i / ranks / 3)); run.peer.push(part === 1 ? (lane + 1) % ranks : null); run.bytes.push(part === 1 ? 808 : null);
  }
  run.to_s = Math.max(...clocks);
  return run;
}

function star(workers, strategy, lot) {
  const links = [];
  for (let r = 0; r < workers; ++r) {
    const busy = strategy === 2 && r === 0 ? 0.97 : 0.15 + 0.25 * lot();
    links.push({ name: `host-${r} up`, from: `host-${r}`, to: 'switch', bytes: busy * 4e8, utilisation: busy });
    links.push({ name: `host-${r} down`, from: 'switch', to: `host-${r}`, bytes: busy * 3e8, utilisation: busy * 0.8 });
  }
  const edges_s = Array.from({ length: 41 }, (_, i) => i * 0.25);
  return { links, heat: { names: links.map(({ name }) => name), edges_s, what: 'utilisation', values: links.map(({ utilisation }) => edges_s.slice(1).map(() => Math.min(1, utilisation * (0.5 + lot())))) } };
}

export function fixture({ strategies = 4, sizes = [1, 2, 4, 8, 16], evaluations = 300, bars = 3000, names = labels, seed = 7 } = {}) {
  const lot = lots(seed);
  const S = Array.from({ length: strategies }, (_, i) => i);
  const points = sizes.map((workers) => ({ text: `${workers} worker${workers === 1 ? '' : 's'}`, workers, parameters: { 'cluster.workers': workers } }));
  const rows = S.flatMap((strategy) => points.map(({ workers }, point) => ({ strategy, point, workers })));
  const name = (s) => names[s];
  const series = rows.map(({ strategy, point, workers }) => curve(strategy, point, workers, evaluations, lot));
  const speedup = S.map((strategy) => {
    const serial = 0.01 + 0.03 * strategy;
    const exact = sizes.map((P) => 1 / (serial + (1 - serial) / P));
    return { strategy, text: '', workers: sizes, speedup: exact.map((x) => x * (1 + 0.05 * (lot() - 0.5))), low: exact.map((x) => x * 0.93), high: exact.map((x) => x * 1.07),
      efficiency: exact.map((x, i) => x / sizes[i]), amdahl: { serial, workers: sizes, speedup: exact } };
  });
  const parts = rows.map(({ strategy, point, workers }) => ({ strategy, point, detail: [], parts: [9 / workers, 0.4 * strategy + 0.05 * workers, 0.3 + 0.02 * workers * strategy, strategy === 2 ? 0.4 : 0] }));
  const pareto = rows.map(({ strategy, point, workers }) => ({ strategy, point, time_s: 10 / workers + 0.6 * strategy + 0.4, cost_usd: 0.01 * (10 + workers * (1 + strategy)), energy_j: 3000 * (1 + 0.1 * workers + strategy), front: false, front_energy: false }));
  const unbeaten = (row, paid) => !pareto.some((other) => other !== row && other.time_s <= row.time_s && other[paid] <= row[paid] && (other.time_s < row.time_s || other[paid] < row[paid]));
  for (const row of pareto) Object.assign(row, { front: unbeaten(row, 'cost_usd'), front_energy: unbeaten(row, 'energy_j') });
  const collectives = rows.filter(({ strategy, workers }) => strategy < 2 && workers > 1).map(({ strategy, point, workers }) => ({ strategy, point, name: strategy ? 'allreduce ring' : 'reduce binomial',
    members: workers, bytes: 808, calls: 300, predicted_s: 1e-4 * workers, simulated_s: 1.2e-4 * workers, skew_s: 3e-5, duration_s: 1.5e-4 * workers, exposed_s: 4e-5 * workers, explanation: 'The last rank comes 30 µs after the mean; two flows share the server\'s link.' }));
  const chart = (sentence, columns, cells) => ({ sentence, table: table(columns, cells) });
  return {
    schema: 1, name: 'house_prices', title: 'House prices: four ways to parallelise gradient descent', version: '0.1.0', complete: true,
    summary: { headline: `${name(1)} is fastest: it reaches a loss of 0.02 in 2.31 s on 16 workers, 2.1 times sooner than ${name(2 % strategies)}.`,
      winners: [{ by: 'time', label: name(1), point: '16 workers', text: 'reaches the target in 2.31 s' }, { by: 'cost', label: name(0), point: '1 worker', text: 'pays $0.11 for it' }, { by: 'energy', label: name(0), point: '1 worker', text: 'spends 3.3 kJ on it' }],
      bottleneck: { name: `${name(1)} with 16 workers`, text: `the server's link is busy 97 % of the time; ${name(1)} spends 62 % of its time computing.` }, notes: ['Two of 100 runs did not reach the target.'] },
    strategies: S.map((s) => ({ label: name(s), kind: kinds[s % kinds.length] })), points, target: 0.02, metric_name: 'accuracy', has_cost: true, has_energy: true,
    curves: { ...chart(`${name(1)} falls below 0.02 first.`, [['strategy', ''], ['point', ''], ['step', ''], ['simulated time', 's'], ['loss', '']],
      series.flatMap((each) => each.step.map((step, i) => [name(each.strategy), points[each.point].text, step, each.simulated_s[i], each.loss[i]]))), series },
    consensus: series.some(({ consensus }) => consensus) ? chart('The workers agree within 0.004 in the end.', [['strategy', '']], S.map((s) => [name(s)])) : null,
    speedup: { ...chart(`${name(0)} scales best: 11 times faster on 16 workers.`, [['strategy', ''], ['workers', ''], ['speed-up', '']], speedup.flatMap((each) => each.workers.map((P, i) => [name(each.strategy), P, each.speedup[i]]))), series: speedup, measure: 'throughput' },
    time: { ...chart(`${name(2 % strategies)} waits for most of its time, because its server's link is full.`, [['strategy', ''], ['point', ''], ['compute', 's'], ['communicate', 's'], ['wait', 's'], ['down', 's']], parts.map((row) => [name(row.strategy), points[row.point].text, ...row.parts])),
      detail: [], rows: parts, ranks: parts.map(({ strategy, point, parts: each }) => ({ strategy, point, detail: [], names: Array.from({ length: sizes[point] }, (_, r) => `rank ${r} (host-${r})`), parts: Array.from({ length: sizes[point] }, () => each.map((x) => x * (0.8 + 0.4 * lot()))) })) },
    pareto: { ...chart('More machines buy time at a growing price.', [['strategy', ''], ['point', ''], ['time', 's'], ['cost', 'USD']], pareto.map((row) => [name(row.strategy), points[row.point].text, row.time_s, row.cost_usd])), rows: pareto, time_is: 'time_to_target' },
    staleness: { ...chart('Half of the gradients are 15 updates old or older.', [['strategy', ''], ['staleness', 'updates'], ['gradients', '']], [[name(2 % strategies), 15, 100]]),
      rows: rows.filter(({ strategy }) => strategy === 2 || strategy === 5).map(({ strategy, point, workers }) => ({ strategy, point, values: Array.from({ length: 2 * workers }, (_, i) => i), counts: Array.from({ length: 2 * workers }, (_, i) => Math.round(1000 * Math.exp(-((i - workers + 1) ** 2) / (2 + workers)))) })) },
    links: { ...chart('The server\'s link is busy 97 % of the time, every other less than 40 %.', [['link', ''], ['bytes', 'B'], ['utilisation', '']], star(sizes[sizes.length - 1], 2, lot).links.map((l) => [l.name, l.bytes, l.utilisation])), rows: rows.map(({ strategy, point, workers }) => ({ strategy, point, ...star(workers, strategy, lot) })) },
    gantt: { ...chart('In a step of allreduce the slowest rank makes the others wait for 3 ms.', [['rank', ''], ['compute', 's']], [['rank 0', 1]]), runs: S.map((strategy) => ganttRun(strategy, points.length - 1, sizes[sizes.length - 1], Math.floor(bars / strategies), lot)) },
    collectives: collectives.length ? { ...chart('An allreduce takes 1.2 times what alpha and beta predict.', [['strategy', ''], ['predicted', 's'], ['simulated', 's']], collectives.map((row) => [name(row.strategy), row.predicted_s, row.simulated_s])), rows: collectives } : null,
    foot: { scenario_toml: 'schema = 1\n\n[cluster]\nworkers = 16\n', seeds: [1, 2, 3, 4, 5], command: 'simgrad run scenarios/house_prices.toml --grid cluster.workers=1,2,4,8,16 --seeds 1..5', version: '0.1.0' },
  };
}

/** The template with the data in its slot, as simgrad writes it. */
export const filled = (template, report) =>
  template.replace('@simgrad-data@', () => JSON.stringify(report).replace(/[<\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`));
