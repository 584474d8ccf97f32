// Memory, the least losses and proxies: what the page shows of real runs is what results.json holds.
import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { close, open, openFile, option } from './browser.mjs';
import { fixture } from './fixture.mjs';
import { scratch } from './modules.mjs';

after(close);

const scenario = (model, more = '') => `schema = 1

[cluster]
workers = 4
device = { kind = "custom", float32 = "1TF", memory_bandwidth = "100GB/s", memory = "80kB" }

[data]
source = "markov"
samples = 128
vocabulary = 8
sharpness = 2

[model]
kind = "transformer"
layers = 2
hidden = 16
heads = 2
sequence = 8
${model}
[training]
precision = "float32"
optimizer = "adamw"
memory = "ignore"
batch_size_per_worker = 2

[stop]
steps = 6

[[strategy]]
kind = "allreduce"

[[strategy]]
kind = "fsdp"

[[strategy]]
kind = "parameter_server"
${more}`;

const parts = { 'model parameters': 'parameters', gradients: 'gradients', 'optimizer state': 'optimizer', activations: 'activations', 'gathered units': 'gathered', buckets: 'buckets', workspace: 'workspace' };
const directory = scratch();
function run(name, text, ...words) {
  writeFileSync(join(directory, `${name}.toml`), text);
  const ran = spawnSync(process.env.SIMGRAD_PROGRAM, ['run', `${name}.toml`, '--out', name, '--quiet', '--no-why', ...words], { cwd: directory, encoding: 'utf8' });
  assert.equal(ran.status, 0, ran.stderr);
  return { results: JSON.parse(readFileSync(join(directory, name, 'results.json'), 'utf8')), file: join(directory, name, 'report.html') };
}

const { results, file } = run('several', scenario('', '\n[grid]\n"cluster.workers" = [2, 4]\n"data.sharpness" = [1, 3]\n'), '--seeds', '1..2');
const { page, seen } = await openFile(file);
await page.evaluate(() => window.simgrad.drawAll());
const report = await page.evaluate(() => window.simgrad.report);
const labels = report.strategies.map(({ label }) => label);
const mean = (all) => all.reduce((a, b) => a + b, 0) / all.length;
const near = (a, b, what = '') => assert.ok(Math.abs(a - b) <= 1e-9 * Math.abs(b), `${what}: ${a} is not ${b}`);
const runs = (label, point) => results.runs.filter((each) => each.label === label && Object.entries(point).every(([key, value]) => each.parameters[key] === value));
const sum = (rank) => Object.values(parts).reduce((all, part) => all + rank[`memory_${part}_bytes`], 0);
const fullest = (each) => each.ranks.reduce((most, rank) => (sum(rank) > sum(most) ? rank : most));
const choose = async (id, workers, sharpness) => page.locator(`#${id} .list:visible select`).last().selectOption(
  String(report.points.findIndex(({ parameters }) => parameters['cluster.workers'] === workers && parameters['data.sharpness'] === sharpness)));

test('a stack is the fullest rank of a strategy, part by part, at the chosen grid point', async () => {
  for (const workers of [2, 4]) {
    await choose('memory', workers, 1);
    const { series, yAxis } = await option(page, 'memory');
    assert.deepEqual(yAxis[0].data, labels);
    labels.forEach((label, i) => {
      const peak = fullest(runs(label, { 'cluster.workers': workers })[0]);
      near(series.filter(({ type }) => type === 'bar').reduce((all, { data }) => all + data[i], 0), peak.memory_bytes, label);
      for (const { name, data } of series.filter(({ type }) => type === 'bar')) near(data[i], mean(runs(label, { 'cluster.workers': workers }).map((each) => fullest(each)[`memory_${parts[name]}_bytes`])), `${label}: ${name}`);
    });
  }
  assert.equal(await page.locator('#time .list:visible select').last().inputValue(), await page.locator('#memory .list:visible select').last().inputValue());
  assert.deepEqual(seen, { errors: [], requests: [] });
});

test('the memory of the device is a line at its size, which the axis names', async () => {
  const { series, xAxis } = await option(page, 'memory');
  assert.equal(results.runs[0].ranks[0].memory_limit_bytes, 80e3);
  assert.deepEqual(series.find(({ id }) => id === 'device').data, labels.map((_, i) => [80e3, i]).filter(([, i]) => fullest(runs(labels[i], { 'cluster.workers': 4 })[0]).memory_limit_bytes === 80e3));
  assert.equal(xAxis[0].name, 'memory (line: device, 80.0\u202fkB)');
  const over = new Set(results.runs.filter((each) => each.ranks.some((rank) => rank.memory_bytes > 80e3)).map(({ label, parameters }) => label + JSON.stringify(parameters)));
  assert.ok(over.size > 0 && report.memory.sentence.includes(`Cases that hold more than a device has: ${over.size} of 12.`), report.memory.sentence);
});

test('ranks that differ are seen one by one', async () => {
  await page.locator('#memory input[value=ranks]').check();
  await page.locator('#memory select').first().selectOption(String(labels.indexOf('parameter_server')));
  const { series, yAxis } = await option(page, 'memory');
  const [one] = runs('parameter_server', { 'cluster.workers': 4 });
  const server = one.ranks.find(({ role }) => role === 'server');
  const place = yAxis[0].data.indexOf('server 0');
  assert.deepEqual([...yAxis[0].data].sort(), ['ranks 0 to 3', 'server 0']);
  for (const { name, data } of series.filter(({ type }) => type === 'bar')) near(data[place], server[`memory_${parts[name]}_bytes`], name);
  await page.locator('#memory input[value=points]').check();
  assert.deepEqual((await option(page, 'memory')).yAxis[0].data, report.points.map(({ text }) => text));
  await page.locator('#memory input[value=strategies]').check();
});

test('the table has the numbers of the chart', async () => {
  await page.locator('#memory summary').click();
  await page.locator('#memory tbody').waitFor();
  const { columns, rows } = report.memory.table;
  assert.equal(await page.locator('#memory tbody tr').count(), rows.length);
  for (const row of rows.filter(([label]) => label === 'fsdp')) {
    const point = report.points.find(({ text }) => text === row[1]).parameters;
    const of = (name) => row[columns.findIndex((column) => column.name === name)];
    const rank = runs('fsdp', point)[0].ranks.find((each) => Math.abs(sum(each) - of('peak')) < 1);
    assert.ok(rank, `no rank holds ${of('peak')}`);
    for (const { name } of columns.slice(5)) near(of(name), rank[`memory_${parts[name]}_bytes`], name);
    assert.equal(of('memory of the device'), 80e3);
  }
});

test('the least expected loss is a dotted line at the mean of the seeds, of the grid point that is shown', async () => {
  for (const sharpness of [1, 3]) {
    await choose('curves', 4, sharpness);
    const { series, yAxis } = await option(page, 'curves');
    const [line, ...others] = series.filter(({ id }) => id?.startsWith('level-'));
    assert.deepEqual(others, []);
    near(line.markLine.data[0].yAxis, mean(runs('allreduce', { 'cluster.workers': 4, 'data.sharpness': sharpness }).map(({ loss_floor }) => loss_floor)));
    assert.match(yAxis[0].name, /^loss \(dots: least expected loss [\d.]+\)$/);
    assert.equal(line.data[0][1], line.markLine.data[0].yAxis);  // a point there keeps the line within the axis
  }
  await page.locator('#curves input[value=metric]').check();
  assert.ok(!(await option(page, 'curves')).series.some(({ id }) => id?.startsWith('level-')));
  await page.locator('#curves input[value=loss]').check();
  await page.locator('#curves input[value=points]').check();
  assert.equal((await option(page, 'curves')).series.filter(({ id }) => id?.startsWith('level-')).length, 2);  // one for each sharpness
});

test('the time of gradients on devices is drawn by kind', async () => {
  const { series, yAxis } = await option(page, 'time');
  const at = report.points[Number(await page.locator('#time .list:visible select').last().inputValue())].parameters;
  yAxis[0].data.forEach((label, i) => {
    const drawn = (name) => series.find((each) => each.name === name).data[i];
    for (const [name, kind] of [['products', 'products'], ['attention', 'attention'], ['elementwise work', 'elementwise']])
      near(drawn(name), mean(runs(label, at).map((each) => each[`gradient_${kind}_s`])), `${label}: ${name}`);
  });
  assert.ok(!series.some(({ name }) => name === 'gradients'));  // nothing is left over
});

test('a report tells whose losses and whose times its runs have', async () => {
  const proxied = run('proxied', scenario('timed_as = "alexnet"\n'));
  const parameters = proxied.results.runs[0].notes.find((note) => note.endsWith('(model.timed_as)')).match(/with ([\d.]+ ?[kM]?) parameters;/)[1];
  const said = `This experiment combines two models: losses are those of transformer with ${parameters} parameters; times, messages and bytes are those of alexnet with 61.1 M parameters (model.timed_as).`;
  const english = await openFile(proxied.file);
  assert.ok((await english.page.locator('main').textContent()).replaceAll('\u00a0', ' ').includes(said));
  const chinese = join(directory, 'zh.html');
  assert.equal(spawnSync(process.env.SIMGRAD_PROGRAM, ['report', join(directory, 'proxied'), '--language', 'zh', '--out', chinese]).status, 0);
  const text = (await (await openFile(chinese)).page.locator('main').textContent()).replaceAll('\u00a0', ' ');
  assert.ok(text.includes(`这个实验结合了两个模型：损失来自有 ${parameters} 个参数的 transformer；时间、消息和字节数来自有 61.1 M 个参数的 alexnet（model.timed_as）。`));
  assert.ok(text.includes('各 rank 的内存') && text.includes('模型参数'));
});

test('without memory there is no card, and without a known floor no line', async () => {
  const { page: bare } = await open(fixture());
  assert.equal(await bare.locator('#memory').count(), 0);
  assert.deepEqual((await option(bare, 'curves')).series.filter(({ id }) => id?.startsWith('level-')).map(({ name }) => name), ['target 0.02']);
});

test('a device of far more memory than any rank holds is told, and not drawn', async () => {
  const made = fixture({ sizes: [4] });
  const rank = (name, held, limit) => ({ name, bytes: [held, held / 2], limit });
  made.memory = { sentence: 'One holds 3 GB.', table: { columns: [{ name: 'strategy', unit: '' }], rows: [['one']] }, about: { strategy: 0, point: 0 },
    parts: [{ name: 'model parameters', part: 0 }, { name: 'workspace', part: 6 }], rows: [0, 1].map((strategy) => ({ strategy, point: 0, ranks: [rank('ranks 0 to 3', 2e9, 8e10)] })) };
  const { page: shown } = await open(made);
  const drawn = await option(shown, 'memory');
  assert.equal(drawn.xAxis[0].name, 'memory (the device has 80.0\u202fGB)');
  assert.ok(!drawn.series.some(({ id }) => id === 'device'));
  assert.equal(await shown.locator('#memory input[value=ranks]').count(), 0);
  made.memory.rows[1].ranks[0].limit = 4e10;
  made.memory.rows[0].ranks[0].limit = 4e9;
  assert.equal((await option((await open(made)).page, 'memory')).xAxis[0].name, 'memory (line: device, 4.00\u202fGB – 40.0\u202fGB)');
  assert.equal((await option((await open(made, { width: 390 })).page, 'memory')).xAxis[0].name, 'memory\n(line: device, 4.00\u202fGB – 40.0\u202fGB)');
  made.memory.rows.forEach(({ ranks }) => { ranks[0].limit = null; });
  assert.equal((await option((await open(made)).page, 'memory')).xAxis[0].name, 'memory at the peak');
});
