// A real experiment: what the charts draw is what results.json holds.
import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { close, openFile, option, template } from './browser.mjs';
import { scratch } from './modules.mjs';

after(close);

const scenario = `schema = 1
title = "Three ways"
seed = 1

[cluster]
workers = 4
bandwidth = "100Mbps"

[data]
source = "house_prices"
samples = 512
features = 16

[model]
kind = "least_squares"

[training]
batch_size = "full"
learning_rate = 0.1

[stop]
loss = 0.05
epochs = 60

[prices]
worker = "0.40$/h"
idle   = "60W"
busy   = "140W"

[[strategy]]
kind = "mapreduce"

[[strategy]]
kind = "allreduce"
label = "allreduce"
algorithm = "ring"

[[strategy]]
kind = "parameter_server"
label = "PS </script><script>alert(1)</script>"
consistency = "asp"

[grid]
"cluster.workers" = [2, 4]
`;

const directory = scratch();
writeFileSync(join(directory, 'three.toml'), scenario);
const ran = spawnSync(process.env.SIMGRAD_PROGRAM, ['run', 'three.toml', '--seeds', '1..2', '--out', 'out', '--quiet'], { cwd: directory, encoding: 'utf8' });
assert.equal(ran.status, 0, ran.stderr);
const results = JSON.parse(readFileSync(join(directory, 'out/results.json'), 'utf8'));
const { page, seen } = await openFile(join(directory, 'out/report.html'));
await page.evaluate(() => window.simgrad.drawAll());
const report = await page.evaluate(() => window.simgrad.report);
await page.locator('#curves select:visible').selectOption(String(report.points.findIndex(({ workers }) => workers === 4)));
const labels = report.strategies.map(({ label }) => label);

/** The runs of this label: one a seed. The page shows those with four workers. */
const runs = (label, workers = 4) => results.runs.filter((run) => run.label === label && run.parameters['cluster.workers'] === workers);
const mean = (all) => all.reduce((a, b) => a + b, 0) / all.length;
const near = (a, b) => assert.ok(Math.abs(a - b) <= 1e-5 * Math.abs(b) + 1e-12, `${a} is not ${b}`);

test('no error, no request, and labels as they are', async () => {
  assert.deepEqual(seen, { errors: [], requests: [] });
  assert.deepEqual(new Set(labels), new Set(results.runs.map(({ label }) => label).filter((label) => labels.includes(label))));
  assert.ok(labels.includes('PS </script><script>alert(1)</script>'));
  assert.equal(await page.locator('h1').textContent(), 'Three ways');
});

test('the page is the one that was bundled, byte for byte, with the data in its slot', () => {
  const html = readFileSync(join(directory, 'out/report.html'), 'utf8');
  const [before, behind] = template.split('@simgrad-data@');
  assert.ok(html.startsWith(before) && html.endsWith(behind));
});

test('the table of all results has each mean and half of its interval, as in the summary of results.json', async () => {
  const rows = await page.locator('#points tbody tr').all();
  assert.equal(rows.length, results.summary.length);
  for (const [i, { label, time_to_target_s, time_to_target_s_high, reached, seeds }] of results.summary.entries()) {
    assert.ok((await rows[i].textContent()).includes(`${reached} of ${seeds}`));
    const { strategy, time_s, speedup, speedup_margin } = report.points_table.rows[i];
    near(speedup, results.summary[i].speedup_time_to_target);
    near(speedup_margin, results.summary[i].speedup_time_to_target_high - results.summary[i].speedup_time_to_target);
    assert.equal(labels[strategy], label);
    near(time_s[0], time_to_target_s);
    near(time_s[1], time_to_target_s_high - time_to_target_s);
  }
});

test('where the time went', async () => {
  await page.locator('#time input[value=strategies]').check();
  const { series, yAxis } = await option(page, 'time');
  // A bar's parts add up to the four, and each is the runs'.
  const { detail } = report.time;
  yAxis[0].data.forEach((label, i) => {
    ['compute_s', 'communicate_s', 'wait_s', 'down_s'].forEach((four, k) =>
      near(detail.reduce((sum, { of }, part) => sum + (of === k ? series[part].data[i] : 0), 0), mean(runs(label).map((run) => run[four]))));
    detail.forEach(({ name }, part) => {
      const field = { gradients: 'compute_gradient_s', sums: 'compute_reduction_s', transfers: 'communicate_transfer_s', "waiting for a server's processor": 'wait_server_s' }[name];
      if (field) near(series[part].data[i], mean(runs(label).map((run) => run[field])));
    });
  });
});

test('the curves begin and end where the runs do, and go through their evaluations', async () => {
  const { series } = await option(page, 'curves');
  for (const label of ['mapreduce', 'allreduce']) {
    const drawn = series.find(({ type, name }) => type === 'line' && name === label).data;
    const all = runs(label);
    near(drawn[0][1], mean(all.map(({ curve }) => curve[0].loss)));
    const steps = Math.min(...all.map(({ curve }) => curve.length));
    assert.ok(drawn.length <= 2000 && drawn.length >= Math.min(steps, 10));
    const losses = Array.from({ length: steps }, (_, i) => mean(all.map(({ curve }) => curve[i].loss)));
    for (const [, loss] of drawn.slice(0, 5)) assert.ok(losses.some((each) => Math.abs(each - loss) <= 1e-5 * each), `${loss} is nowhere`);
  }
});

test('energy, bytes and operations of the curves are axes', async () => {
  for (const axis of ['energy_j', 'bytes', 'flops']) {
    await page.locator(`#curves input[value=${axis}]`).check();
    const { series } = await option(page, 'curves');
    for (const label of ['mapreduce', 'allreduce']) {
      const { data } = series.find(({ type, name }) => type === 'line' && name === label);
      near(data[data.length - 1][0], mean(runs(label).map(({ curve }) => curve[curve.length - 1][axis])));
      const amounts = runs(label)[0].curve.map((_, i) => mean(runs(label).map(({ curve }) => curve[Math.min(i, curve.length - 1)][axis])));
      const [x] = data[5];
      assert.ok(amounts.some((each) => Math.abs(each - x) <= 1e-5 * each), `${label}: ${axis} ${x} is nowhere`);
    }
  }
  await page.locator('#curves input[value=simulated_s]').check();
});

test('speed-up and efficiency', async () => {
  const of = report.speedup.measure === 'throughput' ? 'speedup_throughput' : 'speedup_time_to_target';
  const time = of === 'speedup_throughput' ? (run) => run.simulated_s / (run.samples_seen ?? run.samples) : (run) => run.time_to_target_s;
  // The baseline's mean time over the runs' mean time.
  const ratio = (all) => mean(all.map((run) => run[of] * time(run))) / mean(all.map(time));
  const [up, efficiency] = [await option(page, 'speedup'), await option(page, 'efficiency')];
  // The asynchronous server's updates differ from one worker's: its two speed-ups are two numbers.
  for (const label of labels)
    for (const workers of [2, 4]) {
      const line = (drawn) => drawn.series.find(({ id }) => id?.startsWith('line-') && id.endsWith(label)).data;
      near(line(up).find(([x]) => x === workers)[1], ratio(runs(label, workers)));
      near(line(efficiency).find(([x]) => x === workers)[1], ratio(runs(label, workers)) / workers);
    }
});

test('the network: bytes of each link, and the lanes of the runs that were recorded', async () => {
  const row = report.links.rows.find(({ strategy, point }) => labels[strategy] === 'allreduce' && report.points[point].workers === 4);
  const all = runs('allreduce');
  for (const { name, bytes } of row.links) near(bytes, mean(all.map(({ links }) => links.find(({ link }) => link === name).bytes)));
  await page.locator('#links select').first().selectOption(String(labels.indexOf('allreduce')));
  const { data, links } = (await option(page, 'links')).series[0];
  assert.equal(data.length, 5);  // four hosts and their switch
  assert.equal(links.length, row.links.length);
  const { runs: shown, seen: bars } = await option(page, 'gantt');
  assert.ok(shown[0] && bars[0] > 10);
});
