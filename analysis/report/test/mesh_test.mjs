// The mesh of a cut model: what the page shows of a real run is what results.json and the timeline hold.
import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { close, frames, open, openFile, option } from './browser.mjs';
import { scratch } from './modules.mjs';

after(close);

const directory = scratch();
writeFileSync(join(directory, 'cut.toml'), `schema = 1
[cluster]
workers = 8
speed = "10GF"
topology = { kind = "two_tier", hosts_per_rack = 4 }
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
  const causes = { 'collectives of tensor ranks': 'tensor_s', 'transfers between stages': 'hop_s', 'waiting for another stage (the bubble)': 'bubble_s', 'forward and backward passes': 'compute_gradient_s', updates: 'compute_update_s', 'communication among replicas that no pass hides': 'data_s' };
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

/** Of a group along the dimension: the ranks that differ from this one along it alone. */
const group = (rank, dimension) => run.ranks.filter((each) => ['tensor', 'data', 'pipeline'].every((name) => name === dimension || each[`place_${name}`] === run.ranks[rank][`place_${name}`])).map((each) => each.rank);
const plain = (text) => text.replaceAll('\u202f', ' ');
const marked = () => page.locator('#mesh svg.mesh .rank.marked').evaluateAll((all) => all.map((each) => Number(each.dataset.rank)));
const choose = async (dimension) => { await page.locator(`#mesh .mesh-picture input[value="${dimension}"]`).check(); };

test('the picture has every rank at its place, in the boxes of its rack', async () => {
  await page.locator('#mesh .mesh-picture').scrollIntoViewIfNeeded();
  await page.locator('#mesh svg.mesh').waitFor();
  const drawn = await page.locator('#mesh svg.mesh .rank').evaluateAll((all) => all.map((each) => [Number(each.dataset.rank), [...each.querySelectorAll('text')].map(({ textContent }) => textContent).join(' ')]));
  assert.deepEqual(drawn.sort(([a], [b]) => a - b), run.ranks.map((rank) => [rank.rank, `t${rank.place_tensor} d${rank.place_data} p${rank.place_pipeline}`]));
  const switches = run.ranks.map(({ host }) => run.wires.find(({ from }) => from === `host-${host}`).to);
  assert.equal(await page.locator('#mesh svg.mesh .box').count(), new Set(switches).size);
  assert.equal(await page.locator('#mesh .hint').textContent(), 'Boxes: ranks that links of class nic join. Places: t tensor, d data, p pipeline. Colours: stages.');
});

test('each dimension marks one group and the classes of links that the record has for it', async () => {
  for (const dimension of ['tensor', 'data', 'pipeline']) {
    await choose(dimension);
    const its = run.dimensions.filter((use) => use.dimension === dimension);
    const classes = await page.locator('#mesh .link-class.crossed').evaluateAll((all) => all.map((each) => each.dataset.class));
    assert.deepEqual(classes.sort(), its.map((use) => use.link_class).sort());
    assert.equal(await page.locator('#mesh .link-class').count(), new Set(run.dimensions.map((use) => use.link_class)).size);
    const bars = await page.locator('#mesh .use.chosen i b').evaluateAll((all) => all.map((each) => each.getBoundingClientRect().width / each.parentElement.getBoundingClientRect().width));
    const most = Math.max(...run.dimensions.map((use) => use.utilisation_max));
    its.forEach((use, i) => assert.ok(Math.abs(bars[i] - use.utilisation / most) < 0.01, `${dimension} ${bars}`));
    assert.deepEqual((await marked()).sort((a, b) => a - b), group(0, dimension));
    assert.equal(await page.locator('#mesh svg.mesh .way').count(), 8 / group(0, dimension).length);
    const told = plain(await page.locator('#mesh .told').textContent());
    assert.ok(told.startsWith(`${dimension}: messages in groups of 2 ranks cross ${its[0].link_class} (`) && told.endsWith(`Marked: ranks ${group(0, dimension).join(', ')}.`), told);
  }
});

test('the group is chosen in the list, by a click, and for a moment under the pointer', async () => {
  await choose('pipeline');
  await page.locator('#mesh label.list:has(> span:text-is("Group of")) select').selectOption('3');
  assert.deepEqual(await marked(), group(3, 'pipeline'));
  await page.locator('#mesh svg.mesh .rank[data-rank="1"]').hover();
  assert.deepEqual(await marked(), group(1, 'pipeline'));
  await page.locator('#mesh h2').hover();
  assert.deepEqual(await marked(), group(3, 'pipeline'));
  await page.locator('#mesh svg.mesh .rank[data-rank="2"]').click();
  await page.locator('#mesh h2').hover();
  assert.deepEqual(await marked(), group(2, 'pipeline'));
  await page.locator('#mesh .mesh-picture input[value="pipeline"]').press('ArrowLeft');  // by the keyboard
  assert.deepEqual(await marked(), group(2, 'data'));
});

test('of many ranks one replica is drawn, and the page says so, also where it is narrow', async () => {
  const report = await page.evaluate(() => window.simgrad.report);
  const picture = report.mesh.pictures[0];
  const [, data] = picture.dimensions;
  picture.ranks_in_all = 4 * 8;
  Object.assign(data, { size: 8, drawn: false });
  picture.ranks = picture.ranks.filter(({ places }) => places[1] === 0);
  for (const use of report.mesh.rows[0].links) use.utilisation = use.utilisation_max / 4;
  const narrow = await open(report, { width: 360 });
  await narrow.page.locator('#mesh .mesh-picture').scrollIntoViewIfNeeded();
  await narrow.page.locator('#mesh svg.mesh').waitFor();
  assert.equal(await narrow.page.locator('#mesh svg.mesh .rank').count(), 4);
  assert.match(await narrow.page.locator('#mesh .hint').textContent(), /^4 of 32 ranks are drawn: one replica\. /);
  await narrow.page.locator('#mesh .mesh-picture input[value="data"]').check();
  assert.match(await narrow.page.locator('#mesh .told').textContent(), /in groups of 8 ranks .* Marked: rank 0; the others of its group are not drawn\.$/);
  const [mean, most] = await narrow.page.locator('#mesh .use.chosen i').first().evaluate((bar) => ['--mean', '--most'].map((name) => parseFloat(bar.style.getPropertyValue(name))));
  assert.ok(most > 0 && Math.abs(mean / most - 0.25) < 1e-9, `${mean} ${most}`);
  const { right, all } = await narrow.page.evaluate(() => ({ right: document.querySelector('#mesh svg.mesh').getBoundingClientRect().right, all: document.documentElement.scrollWidth }));
  assert.ok(right <= 360 && all <= 360, `${right} ${all}`);
  assert.deepEqual(narrow.seen, { errors: [], requests: [] });
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
