// The matrix of pairs: its numbers are those of pairs.csv, at the grid point that is chosen, on paper, phones and in Chinese.
import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { browser, close, open, openFile } from './browser.mjs';
import { fixture } from './fixture.mjs';
import { faultsOfTables, inspector, sheets } from './inspect.mjs';
import { scratch } from './modules.mjs';

after(close);

const scenario = `schema = 1

[cluster]
workers = 4
stragglers = { kind = "log_normal", sigma = 0.3 }

[data]
source = "house_prices"

[model]
kind = "least_squares"

[training]
batch_size = 32

[stop]
steps = 12

[grid]
"cluster.workers" = [2, 4]

[[strategy]]
kind = "allreduce"

[[strategy]]
kind = "parameter_server"

[[strategy]]
kind = "local_sgd"
label = "local, 4 steps"
local_steps = 4
`;

const directory = scratch();
function called(...words) {
  const ran = spawnSync(process.env.SIMGRAD_PROGRAM, words, { cwd: directory, encoding: 'utf8' });
  assert.equal(ran.status, 0, ran.stderr);
}
function run(name, ...words) {
  writeFileSync(join(directory, `${name}.toml`), scenario);
  called('run', `${name}.toml`, '--out', name, '--quiet', '--no-why', ...words);
  return join(directory, name, 'report.html');
}

/** The rows of a CSV file by the names of its columns; only labels have commas. */
function rowsOf(file) {
  const [head, ...lines] = readFileSync(file, 'utf8').trim().split(/\r?\n/).map((line) => [...line.matchAll(/(?:"([^"]*)"|([^,]*))(?:,|$)/g)].map(([, quoted, plain]) => quoted ?? plain));
  return lines.map((line) => Object.fromEntries(head.map((name, i) => [name, line[i]])));
}

const file = run('several', '--seeds', '1..5');
const { page, seen } = await openFile(file);
const report = await page.evaluate(() => window.simgrad.report);
const expected = rowsOf(join(directory, 'several', 'pairs.csv'));
const plain = (text) => text.replaceAll('\u202f', ' ').replaceAll('\u00a0', ' ');
const texts = async (opened, where) => (await opened.locator(`#pairs .matrix ${where}`).allTextContents()).map(plain);
const rounded = (p) => (p < 0.001 ? '<0.001' : p.toFixed(3));
const choose = (workers) => page.locator('#pairs select').selectOption(String(report.points.findIndex(({ parameters }) => parameters['cluster.workers'] === workers)));

test('the matrix has the p-values of pairs.csv at the chosen grid point, and follows the choice of another chart', async () => {
  const seenMatrices = new Set();
  for (const workers of [2, 4]) {
    await choose(workers);
    const here = expected.filter((row) => row['param.cluster.workers'] === String(workers));
    assert.equal(here.length, 3);
    const columns = (await texts(page, 'thead th')).slice(1);
    const rows = await texts(page, 'tbody th');
    assert.deepEqual([columns[0], rows[0], rows[1]], [here[0].label, here[0].other, here[1].other]);
    for (const { label, other, behind, p_holm: corrected } of here) {
      const cell = page.locator('#pairs .matrix tbody tr').nth(rows.indexOf(other)).locator('td').nth(columns.indexOf(label));
      const sure = corrected !== '' && Number(corrected) < 0.05;
      const text = plain(await cell.textContent());
      assert.ok(text.startsWith(corrected === '' ? '–' : rounded(Number(corrected)) + (sure ? ' *' : '+')), `${text}: ${corrected}`);
      assert.equal(await cell.locator('b').count(), sure ? 1 : 0);
      const { means } = report.pairs.rows.find(({ point }) => report.points[point].parameters['cluster.workers'] === workers);
      const share = 100 * Number(behind) / means[columns.indexOf(label)];
      assert.ok(Math.abs(Number(text.match(/\+([\d.,]+) %$/)[1].replaceAll(',', '')) - share) <= 0.06 * share, `${text}: ${share}`);
      assert.match(plain(await cell.getAttribute('title')), new RegExp(`^${other} takes .+ longer than ${label} ${corrected === '' ? 'with every seed' : 'on average over 5 seeds'}`));
    }
    seenMatrices.add((await texts(page, 'td')).join('|'));
    assert.match(await page.locator('#pairs caption').textContent(), new RegExp(`^Differences in time per sample at ${workers} workers: p-values of paired t tests over 5 seeds, corrected by the Holm method for 3 pairs\\.$`));
    const significant = here.filter((row) => row.p_holm !== '' && Number(row.p_holm) < 0.05).length;
    assert.ok((await page.locator('#pairs .told').textContent()).startsWith(`${workers} workers: Pairs of strategies that differ by more than chance: ${significant} of 3 (corrected p below 0.05, 5 seeds).`));
  }
  assert.equal(seenMatrices.size, 2);
  await page.locator('#time .list:visible select').last().selectOption(String(report.points.findIndex(({ parameters }) => parameters['cluster.workers'] === 2)));
  assert.match(await page.locator('#pairs caption').textContent(), /at 2 workers:/);
  assert.deepEqual(seen, { errors: [], requests: [] });
});

test('the heads of rows and columns say so, and the matrix has a caption', async () => {
  assert.deepEqual(await page.locator('#pairs .matrix tbody th').evaluateAll((all) => all.map(({ scope }) => scope)), ['row', 'row']);
  assert.deepEqual(await page.locator('#pairs .matrix thead th').evaluateAll((all) => all.map(({ scope }) => scope)), ['col', 'col', 'col']);
  assert.equal(await page.locator('#pairs caption').count(), 1);
  assert.ok((await page.locator('nav').textContent()).includes('Which differences are more than chance'));
});

test('the table and its file have every pair of pairs.csv', async () => {
  const { columns, rows } = report.pairs.table;
  const of = (row, name) => row[columns.findIndex((column) => column.name === name)];
  assert.deepEqual(rows.map((row) => [of(row, 'strategy'), of(row, 'other strategy'), of(row, 'difference'), of(row, 'difference, low'), of(row, 'difference, high'), of(row, 'p'), of(row, 'corrected p')]),
    expected.map((row) => [row.label, row.other, ...['behind', 'behind_low', 'behind_high', 'p', 'p_holm'].map((name) => (row[name] === '' ? null : Number(row[name])))]));
  const [saved] = await Promise.all([page.waitForEvent('download'), page.locator('#pairs button', { hasText: 'Download CSV' }).click()]);
  assert.equal(saved.suggestedFilename(), 'several-pairs.csv');
  assert.equal(readFileSync(await saved.path(), 'utf8').trim().split('\r\n').length, expected.length + 1);
});

test('with one seed there is no card', async () => {
  const { page: single } = await openFile(run('single', '--seeds', '1'));
  assert.equal(await single.evaluate(() => window.simgrad.report.pairs), undefined);
  assert.equal(await single.locator('#pairs').count(), 0);
  assert.ok(await single.locator('#points').count() > 0);
});

test('in Chinese the card has no English word', async () => {
  called('report', 'several', '--language', 'zh', '--out', 'zh.html');
  const { page: chinese, seen: own } = await openFile(join(directory, 'zh.html'));
  await chinese.locator('#pairs summary').click();
  await chinese.locator('#pairs tbody').nth(1).waitFor();
  const titles = await chinese.locator('#pairs td[title]').evaluateAll((all) => all.map(({ title }) => title));
  let text = [await chinese.locator('#pairs').textContent(), ...titles].join(' ');
  assert.ok(text.includes('哪些差异不只是偶然') && text.includes('每个样本的时间'));
  for (const { label } of report.strategies) text = text.replaceAll(label, '_');
  assert.deepEqual((text.match(/[A-Za-z]{2,}/g) ?? []).filter((word) => !['Holm', 'CSV', 'ns', 'ms'].includes(word)), []);
  assert.deepEqual(own, { errors: [], requests: [] });
});

/** Eight strategies of nine in the matrix: pairs that are told apart and not, the same with every seed, and without seeds in common. */
function eight() {
  const made = fixture({ strategies: 8, sizes: [4] });
  made.strategies[3].label = 'averylonglabelwithoutanyspaceswhichcannotbebrokenatall';
  const cells = [];
  for (let first = 0; first < 8; ++first)
    for (let second = first + 1; second < 8; ++second) cells.push({ first, second, seeds: 3, difference: 0.1 * (second - first), low: 0.01, high: 0.3, p: [0.0001, 0.0499999, 0.0500001, null][(first + second) % 4] });
  cells.pop();
  made.pairs = { sentence: 'Some differ.', about: null, table: { columns: [{ name: 'strategy', unit: '' }], rows: [['one']] }, to_target: true,
    rows: [{ strategy: 0, point: 0, sentence: 'Some differ.', strategies: [0, 1, 2, 3, 4, 5, 6, 7], means: [1, 2, 3, 4, 5, 6, 7, 8], left_out: 1, tested: 30, seeds: [2, 3], cells }] };
  return made;
}

test('a p-value is not rounded to the other side of 0.05, and what has none says why', async () => {
  const { page: many } = await open(eight());
  assert.equal((await texts(many, 'tbody tr:nth-child(1) td'))[0], '<0.050 *+10 %');
  assert.equal((await texts(many, 'tbody tr:nth-child(2) td'))[0], '0.050+20 %');
  assert.equal((await texts(many, 'tbody tr:nth-child(3) td'))[0], '–+30 %');
  assert.equal((await texts(many, 'tbody tr:nth-child(7) td'))[6], '');
  const said = await many.locator('#pairs .reading').textContent();
  for (const words of ['Bold, with a star: p below 0.05', 'Dash: the difference is the same with every seed', 'Empty: fewer than two seeds in common', '1 slower strategy is in the table below only'])
    assert.ok(said.includes(words), said);
  assert.match(await many.locator('#pairs caption').textContent(), /time to target at 4 workers: p-values of paired t tests over 2 to 3 seeds/);
  assert.equal(await many.locator('#pairs .told:visible').count(), 0);  // the sentence is that of the only grid point
});

test('a wide matrix scrolls by itself on a phone, in both themes, and its texts stay in their columns', async () => {
  for (const [width, scheme] of [[390, 'dark'], [1280, 'light']]) {
    const { page: opened, seen: own } = await open(eight(), { width, scheme });
    assert.ok(await opened.evaluate(() => document.documentElement.scrollWidth) <= width);
    assert.deepEqual(await opened.evaluate(faultsOfTables), [], `${width} pixels`);
    const [ink, ground] = await opened.locator('#pairs td.sure').first().evaluate((cell) => [getComputedStyle(cell).color, getComputedStyle(cell).backgroundColor].map((text) => text.match(/\d+/g).slice(0, 3).reduce((sum, x) => sum + Number(x), 0) / 3));
    assert.ok(Math.abs(ink - ground) > 100, `${ink} on ${ground}`);
    const caption = await opened.locator('#pairs caption span').boundingBox();
    assert.ok(caption.x >= 0 && caption.x + caption.width <= width, `the caption is cut: ${JSON.stringify(caption)}`);
    assert.deepEqual(own, { errors: [], requests: [] });
  }
});

test('nothing is wrong with the whole page, on paper too', async () => {
  assert.deepEqual(await (await inspector(browser))(new URL(`file://${file}`).href, { print: true }), []);
  const { page: many } = await open(eight());
  assert.equal(sheets(await many.pdf({ format: 'A4', printBackground: true })).blank, 0);
  await many.emulateMedia({ media: 'print' });
  const [wide, room] = await many.locator('#pairs .scroll').evaluate((box) => [box.scrollWidth, box.clientWidth]);
  assert.ok(wide <= room + 1, `${wide} of ${room}`);
});
