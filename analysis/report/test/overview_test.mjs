// The page of a large experiment: 440 cases, whose slices, sentences and table are those of results.json.
import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { close, eventually, openFile, option } from './browser.mjs';
import { scratch } from './modules.mjs';

after(close);

const bandwidths = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].map((each) => `${each}Mbps`);
const latencies = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000].map((each) => `${each}us`);
const scenario = `schema = 1
title = "A large grid"

[cluster]
workers = 4

[data]
source = "house_prices"
samples = 64
features = 4

[model]
kind = "least_squares"

[training]
batch_size_per_worker = 4

[stop]
steps = 3

[[strategy]]
kind = "allreduce"

[[strategy]]
kind = "gossip"

[[strategy]]
kind = "mapreduce"

[[strategy]]
kind = "parameter_server"

[grid]
"cluster.bandwidth" = ${JSON.stringify(bandwidths)}
"cluster.latency" = ${JSON.stringify(latencies)}
`;

const directory = scratch();
writeFileSync(join(directory, 'large.toml'), scenario);
function called(...words) {
  const { status, stderr } = spawnSync(process.env.SIMGRAD_PROGRAM, words, { cwd: directory, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
}
called('run', 'large.toml', '--seeds', '1..2', '--out', 'out', '--quiet', '--no-why', '--no-baseline');
const results = JSON.parse(readFileSync(join(directory, 'out/results.json'), 'utf8'));
const { page, seen } = await openFile(join(directory, 'out/report.html'));
await page.evaluate(() => window.simgrad.drawAll());
const report = await page.evaluate(() => window.simgrad.report);
const labels = report.overview.strategies;

const near = (a, b) => assert.ok(Math.abs(a - b) <= 1e-5 * Math.abs(b) + 1e-12, `${a} is not ${b}`);
const row = (label, bandwidth, latency) => results.summary.find((each) => each.label === label && each.parameters['cluster.bandwidth'] === bandwidth && each.parameters['cluster.latency'] === latency);
const select = async (label, text) => { await page.locator(`#overview label.list:has(> span:text-is("${label}")) select`).selectOption({ label: text }); await page.evaluate(() => window.simgrad.drawAll()); };
const lines = async (id = 'overview') => (await option(page, id)).series.filter(({ type, id: own }) => type === 'line' && own?.startsWith('line-'));
const sentence = async () => (await page.locator('#overview .sentence').textContent()).replaceAll('\u00a0', ' ');

test('no error, no request, and a page below 5 MB', () => {
  assert.deepEqual(seen, { errors: [], requests: [] });
  assert.ok(statSync(join(directory, 'out/report.html')).size < 5e6);
  assert.equal(report.overview.cases.point.length, 440);
});

test('a slice of bandwidths draws the means of results.json, with their intervals', async () => {
  await select('x axis', 'bandwidth');
  await select('latency', '50us');
  const drawn = await lines();
  assert.deepEqual(drawn.map(({ name }) => name), labels);
  for (const { name, data } of drawn) {
    assert.equal(data.length, bandwidths.length);
    data.forEach(([x, y]) => near(y, row(name, bandwidths[x], '50us').simulated_s));
  }
  const [first] = results.summary;
  near(report.overview.cases.time_margin_s[0] + first.simulated_s, first.simulated_s_high);
});

test('the x axis, the lines and every other key can be chosen', async () => {
  await select('x axis', 'latency');
  await select('Lines', 'bandwidth');
  await select('strategy', 'mapreduce');
  const drawn = await lines();
  assert.equal(drawn.length, bandwidths.length);
  drawn.forEach(({ name, data }, i) => {
    assert.equal(name, `bandwidth=${bandwidths[i]}`);
    data.forEach(([x, y]) => near(y, row('mapreduce', bandwidths[i], latencies[x]).simulated_s));
  });
  assert.match(await sentence(), /^Slice: strategy=mapreduce\. Simulated time: from /);
  await select('Lines', 'strategy');
});

test('the sentence names the winners of simgrad, and the least and the most that are drawn', async () => {
  await select('x axis', 'latency');
  await select('Lines', 'strategy');
  await select('bandwidth', '20Mbps');
  const text = await sentence();
  assert.ok(text.startsWith('Slice: bandwidth=20Mbps. Least time per sample, by latency: '), text);
  const rows = results.summary.filter(({ parameters }) => parameters['cluster.bandwidth'] === '20Mbps').sort((a, b) => a.simulated_s - b.simulated_s);
  const where = ({ label, parameters }) => `(${label}, latency=${parameters['cluster.latency']})`;
  assert.ok(text.includes(where(rows[0])) || rows[1].simulated_s === rows[0].simulated_s, text);
  assert.ok(text.includes(where(rows[rows.length - 1])) || rows[rows.length - 2].simulated_s === rows[rows.length - 1].simulated_s, text);
  // At each latency all strategies process the same samples: the winner has the least simulated time.
  latencies.forEach((latency, i) => {
    const winner = report.overview.winners[report.overview.points.findIndex(([b, l]) => bandwidths[b] === '20Mbps' && l === i)];
    const best = labels.map((label) => row(label, '20Mbps', latency)).reduce((a, b) => (b.samples_per_s > a.samples_per_s ? b : a));
    assert.ok(winner.strategies.some((each) => row(labels[each], '20Mbps', latency).samples_per_s >= best.samples_per_s / 1.005), latency);
  });
});

test('another number is shown, and one hidden strategy less', async () => {
  await select('Show', 'final loss');
  for (const { name, data } of await lines()) data.forEach(([x, y]) => near(y, row(name, '20Mbps', latencies[x]).final_loss));
  await page.locator('#overview button.key', { hasText: 'gossip' }).click();
  await page.evaluate(() => window.simgrad.drawAll());
  assert.deepEqual((await lines()).map(({ name }) => name), labels.filter((label) => label !== 'gossip'));
  await page.locator('#overview button.key.all').click();
});

test('the losses of the slice begin and end where the runs do', async () => {
  await page.locator('#overview-curves select').selectOption({ label: '500us' });
  assert.ok((await page.locator('#overview-curves .sentence').textContent()).startsWith('Losses at latency=500us, bandwidth=20Mbps. '));
  await page.evaluate(() => window.simgrad.drawAll());
  for (const { name, data } of await lines('overview-curves')) {
    const runs = results.runs.filter(({ label, parameters }) => label === name && parameters['cluster.bandwidth'] === '20Mbps' && parameters['cluster.latency'] === '500us');
    const mean = (of) => runs.reduce((sum, run) => sum + of(run), 0) / runs.length;
    near(data[0][1], mean(({ curve }) => curve[0].loss));
    near(data[data.length - 1][1], mean(({ curve }) => curve[curve.length - 1].loss));
    near(data[data.length - 1][0], mean(({ curve }) => curve[curve.length - 1].simulated_s));
  }
});

test('the table shows 400 rows, then the others, and its filter finds all', async () => {
  assert.equal(await page.locator('#points tbody tr').count(), 400);
  const more = page.locator('#points .tools button', { hasText: 'Show' });
  assert.equal(await more.textContent(), 'Show 40 more rows (40 are left)');
  await more.click();
  assert.equal(await page.locator('#points tbody tr').count(), 440);
  assert.equal(await more.isVisible(), false);
  await page.locator('#points input[type=search]').fill('gossip 2000us 1000Mbps');
  assert.equal(await eventually(() => page.locator('#points tbody tr').count(), (count) => count === 1), 1);
});

test('the charts of the closer look are of three grid points', async () => {
  assert.equal(report.points.length, 3);
  assert.equal(await page.locator('#closer h2').textContent(), 'A closer look at 3 grid points');
  assert.equal(report.curves.series.length, 12);
  for (const { text } of report.points) assert.ok((await page.locator('#closer .sentence').textContent()).includes(`(${text})`));
});

test('in Chinese no English sentence is left', async () => {
  called('report', 'out', '--language', 'zh', '--out', 'zh.html');
  const { page: chinese, seen: own } = await openFile(join(directory, 'zh.html'));
  await chinese.evaluate(() => window.simgrad.drawAll());
  assert.deepEqual(own, { errors: [], requests: [] });
  for (const text of [await chinese.locator('.headline').textContent(), ...await chinese.locator('#overview .sentence, #overview-curves .sentence, #closer .sentence, #points .sentence').allTextContents()])
    assert.doesNotMatch(text.replace(/\b(allreduce|gossip|mapreduce|parameter_server|bandwidth|latency|rank|ranks\.csv|links\.csv|curves\.csv|Student|t|[\d.]+(Mbps|us|s|ms|µs)?)\b/g, ''), /[a-z]{3,}/i, text);
});

test('on a phone the page is not wider than its window', async () => {
  const { page: narrow, seen: own } = await openFile(join(directory, 'out/report.html'), { width: 390, touch: true });
  await narrow.evaluate(() => window.simgrad.drawAll());
  assert.deepEqual(own, { errors: [], requests: [] });
  assert.ok(await narrow.evaluate(() => document.documentElement.scrollWidth) <= 390);
});
