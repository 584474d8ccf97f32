// The mesh of a cut model: what the page shows of a real run is what results.json and the timeline hold.
import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { close, frames, openFile, option } from './browser.mjs';
import { scratch } from './modules.mjs';

after(close);

const directory = scratch();
writeFileSync(join(directory, 'cut.toml'), `schema = 1
[cluster]
workers = 8
speed = "10GF"
topology = "two_tier"
[data]
source = "markov"
samples = 64
vocabulary = 16
[model]
kind = "transformer"
layers = 4
hidden = 32
heads = 4
sequence = 16
[training]
batch_size = 32
recompute = "full"
[parallel]
tensor = 2
pipeline = 2
micro_batches = 4
schedule = "zb_h1"
[stop]
steps = 2
[[strategy]]
kind = "allreduce"
`);
const ran = spawnSync(process.env.SIMGRAD_PROGRAM, ['run', 'cut.toml', '--out', 'cut', '--quiet', '--no-why'], { cwd: directory, encoding: 'utf8' });
assert.equal(ran.status, 0, ran.stderr);
const [run] = JSON.parse(readFileSync(join(directory, 'cut', 'results.json'), 'utf8')).runs;
const { page, seen } = await openFile(join(directory, 'cut', 'report.html'));
await page.evaluate(() => window.simgrad.drawAll());

const mean = (all) => all.reduce((a, b) => a + b, 0) / all.length;
const near = (a, b, what = '') => assert.ok(Math.abs(a - b) <= 1e-9 * Math.abs(b) + 1e-15, `${what}: ${a} is not ${b}`);
const ranks = (stage) => run.ranks.filter(({ place_pipeline: place }) => place === stage);

test('each stage is a stack of causes that are the means over its ranks', async () => {
  const { series, yAxis } = await option(page, 'mesh');
  assert.deepEqual(yAxis[0].data, ['stage 0', 'stage 1']);
  const causes = { 'collectives of tensor ranks': 'tensor_s', 'transfers between stages': 'hop_s', 'waiting for another stage (the bubble)': 'bubble_s', 'forward and backward passes': 'compute_gradient_s', updates: 'compute_update_s' };
  for (const stage of [0, 1]) {
    for (const [name, field] of Object.entries(causes)) near(series.find((each) => each.name === name).data[stage], mean(ranks(stage).map((rank) => rank[field])) / run.steps, name);
    near(series.reduce((all, { data }) => all + data[stage], 0), run.simulated_s / run.steps, 'a step');
  }
  assert.ok(run.bubble_share > 0);
});

test('the table has the bytes of each dimension on each class of links', async () => {
  const rows = await page.locator('#mesh table.dimensions tbody tr').allTextContents();
  assert.equal(rows.length, run.dimensions.length);
  run.dimensions.forEach(({ dimension, link_class: kind, links }, i) => assert.ok(rows[i].startsWith(`${dimension}${kind}${links}`), rows[i]));
  assert.deepEqual([...new Set(run.dimensions.map(({ dimension }) => dimension))].sort(), ['data', 'pipeline', 'tensor']);
});

test('the timeline has a shade for each pass, and numbers of micro-batches when zoomed', async () => {
  const keys = await page.locator('#gantt .legend .key').allTextContents();
  assert.deepEqual(keys.slice(0, 4), ['forward', 'backward', 'gradients of parameters', 'forward once more']);
  const report = await page.evaluate(() => window.simgrad.report);
  const [shown] = report.gantt.runs;
  assert.ok(shown.micro.some((micro) => micro === 3) && Math.max(...shown.micro) === 3);
  // The bar under the pointer tells its pass and its micro-batch.
  const bar = shown.kind.findIndex((kind, i) => kind === 0 && shown.names[shown.name[i]] === 'weights' && shown.lane[i] === 0);
  const canvas = page.locator('#gantt .lanes').first();
  await canvas.scrollIntoViewIfNeeded();
  await frames(page);
  const box = await canvas.boundingBox();
  const { from, to, rows: [{ top, row, gutter, width }] } = await page.evaluate(() => window.simgrad.option('gantt'));
  await page.mouse.move(box.x + gutter + (((shown.from[bar] + shown.to[bar]) / 2 - from) / (to - from)) * (width - gutter), box.y + top + 0.5 * row);
  const text = (await page.locator('#gantt .bubble:visible').textContent()).replaceAll('\u202f', ' ');
  assert.match(text, new RegExp(`gradients of parameters.*micro-batch${shown.micro[bar]}`));
  const written = await page.evaluate(() => {
    const [texts, write] = [[], CanvasRenderingContext2D.prototype.fillText];
    CanvasRenderingContext2D.prototype.fillText = function fillText(said, ...rest) { texts.push(said); return write.call(this, said, ...rest); };
    for (let i = 0; i < 8; ++i) document.querySelector('#gantt .tools button:nth-child(3)').click();
    return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(texts))));
  });
  assert.ok(written.some((said) => /^(forward|backward|weights|recompute) [0-3]$|^[0-3]$/.test(said)), written.join('|'));
  assert.deepEqual(seen, { errors: [], requests: [] });
});
