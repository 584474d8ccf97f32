// Opens reports of random experiments and of the shipped scenarios, and tells every fault of their pages.
//   node everything.mjs random 1 300          experiments 1 to 300
//   node everything.mjs scenarios 0 4         the shipped scenarios of which the place in the list is 0 modulo 4
//   node everything.mjs turn 0 2 12           the first of the two twelfths of the shipped scenarios whose turn it is
//   node everything.mjs reports FILE...       these pages
// Environment: as for the tests (see bench.mjs), SIMGRAD_PROGRAM, and SIMGRAD_TURN: a number that grows by one a commit, so
// that six commits look at all scenarios.
import { existsSync, readdirSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { browser as first, launch } from './browser.mjs';
import { inspector } from './inspect.mjs';
import { here, scratch } from './modules.mjs';
import { writeExperiment } from './random_results.mjs';

const program = process.env.SIMGRAD_PROGRAM;
const directory = scratch();

function called(...words) {
  const { status, stderr, error } = spawnSync(program, words, { encoding: 'utf8' });
  return status === 0 || status === 1 ? null : `simgrad ${words.join(' ')}: exit ${status}: ${error ?? stderr.slice(0, 400)}`;
}

/** Scenarios that take long are run smaller: their pages have the same charts. */
const smaller = {
  'checkpoint_interval.toml': ['--set', 'stop.steps=4000', '--set', 'evaluate.every_steps=1000'],
  'joint_task.toml': ['--set', 'stop.epochs=6'],
  'key_cache.toml': ['--set', 'stop.epochs=1'],
  'lessons/03_fewer_bytes.toml': ['--set', 'stop.steps=100'],
  'lessons/09_fewer_rounds.toml': ['--set', 'stop.steps=64'],
  'lessons/10_more_machines_more_failures.toml': ['--set', 'stop.steps=300', '--set', 'evaluate.every_steps=100'],
  'lessons/12_same_step_more_steps.toml': ['--set', 'stop.epochs=8'],
  'published/vtrain_a100.toml': ['--grid', 'zip(model.layers=30,40,48; model.hidden=3072,6144,8192; model.heads=32,48,64; cluster.workers=64,256,512; training.batch_size=512,1024,1536; parallel.tensor=2,8,8; parallel.pipeline=1,2,8; parallel.micro_batches=2,32,24; cluster.bandwidth=400Gbps,100Gbps,100Gbps)'],
  'who_trains_this_round.toml': ['--set', 'stop.samples=100000'],
  'wide_and_deep.toml': ['--set', 'stop.epochs=1'],
};

/** Scenarios that read a file: its name in the folder SIMGRAD_TEST_DATA. Without the folder they are skipped. */
const files = { 'real_csv.toml': 'california_housing.csv', 'real_libsvm.toml': 'heart_scale.libsvm' };

const turn = Number(process.env.SIMGRAD_TURN ?? 0);
if (!Number.isSafeInteger(turn) || turn < 0) { console.log(`SIMGRAD_TURN is "${process.env.SIMGRAD_TURN}"; expected a whole number`); process.exit(2); }

function* reports([kind, ...rest]) {
  if (kind === 'turn') {
    const [piece, pieces, parts] = rest.map(Number);
    return yield* reports(['scenarios', (piece + pieces * turn) % parts, parts]);
  }
  if (kind === 'reports') for (const file of rest) yield { name: file, file: resolve(file) };
  const [from, to] = rest.map(Number);
  if (kind === 'random')
    for (let number = from; number <= to; ++number) {
      const out = join(directory, `random-${number}`);
      writeExperiment(out, number);
      yield { name: `experiment ${number}`, fault: called('report', out, '--template', process.env.SIMGRAD_PAGE), file: join(out, 'report.html'), print: number % 8 === 0 };
    }
  if (kind === 'scenarios') {
    const scenarios = resolve(here, '../../../scenarios');
    const all = readdirSync(scenarios, { recursive: true }).map(String).filter((each) => each.endsWith('.toml')).sort();
    for (const each of all.filter((_, i) => i % to === from)) {
      const out = join(directory, each.replace(/\W/g, '_'));
      const data = files[each] ? join(process.env.SIMGRAD_TEST_DATA ?? '', files[each]) : null;
      if (data && !(process.env.SIMGRAD_TEST_DATA && existsSync(data))) { console.log(`${each}: skipped, it needs SIMGRAD_TEST_DATA`); continue; }
      yield { name: each, fault: called('run', join(scenarios, each), '--out', out, '--quiet', ...(smaller[each] ?? []), ...(data ? ['--set', `data.path=${resolve(data)}`] : [])), file: join(out, 'report.html'), print: true };
    }
  }
}

/** Returns what the promise does, or undefined after so many milliseconds. */
async function within(limit, promise) {
  let timer;
  const over = new Promise((done) => { timer = setTimeout(done, limit); });
  try { return await Promise.race([promise, over]); } finally { clearTimeout(timer); }
}

/** What a page may take [ms]: some ten times its usual time on a busy machine. */
const limit = 120_000;

let browser = first;
let inspect = await inspector(browser);

/** Chromium stops answering now and then on a busy machine: then the page is looked at again in a new one. A page at which it stops twice has a fault. */
async function inspected(name, url, print) {
  for (let tries = 0; ; ++tries) {
    let stage = 'nothing yet';
    const looking = inspect(url, { print, doing: (what) => { stage = what; } });
    looking.catch(() => {});
    const faults = await within(limit, looking);
    if (faults) return faults;
    const hung = `no answer of the browser within ${limit / 1000} s, at ${stage}`;
    if (tries === 1) return [hung];
    console.log(`${name}: ${hung}; once more in a new browser`);
    await within(10_000, browser.close().catch(() => {}));
    browser = await launch();
    inspect = await inspector(browser);
  }
}

let [count, bad] = [0, 0];
for (const { name, fault, file, print } of reports(process.argv.slice(2))) {
  const faults = fault ? [fault] : await inspected(name, pathToFileURL(file).href, print);
  ++count;
  if (faults.length > 0) ++bad;
  for (const each of faults.slice(0, 12)) console.log(`${name}: ${each}`);
  if (faults.length > 12) console.log(`${name}: and ${faults.length - 12} more`);
}
console.log(`${count} pages, ${bad} with faults`);
await within(10_000, browser.close().catch(() => {}));
process.exit(bad > 0 || count === 0 ? 1 : 0);
