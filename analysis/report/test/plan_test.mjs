// The page of a small plan: what its card says and draws is what plan.json holds.
import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { browser, close, open, openFile, option } from './browser.mjs';
import { fixture } from './fixture.mjs';
import { faultsOfTables, inspector } from './inspect.mjs';
import { scratch } from './modules.mjs';

after(close);

// 24 candidates. Those with a batch of 2 rows on 4 workers cannot be run.
const scenario = `title = "Two dozen ways"
seed = 1

[cluster]
workers = 4
speed = "20MF"
bandwidth = "20Mbps"
latency = "2ms"

[data]
source = "house_prices"
samples = 400
features = 20

[model]
kind = "least_squares"

[training]
batch_size = 100
learning_rate = 0.05

[stop]
loss = 0.05
epochs = 200

[evaluate]
every_steps = 2

[prices]
worker = "0.40$/h"
idle = "60W"
busy = "140W"

[plan]
objective = "cheapest"
deadline = "1min"
seeds = 1

[plan.space]
"cluster.workers" = [1, 2, 4]
"training.learning_rate" = [0.02, 0.05]
"training.batch_size" = [100, 2]

[[strategy]]
kind = "allreduce"

[[strategy]]
kind = "parameter_server"
consistency = "asp"
label = "PS <b>bold</b>"
`;

const directory = scratch();
const simgrad = (...words) => {
  const { status, stderr } = spawnSync(process.env.SIMGRAD_PROGRAM, words, { cwd: directory, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
};
writeFileSync(join(directory, 'small.toml'), scenario);
simgrad('plan', 'small.toml', '--out', 'out', '--quiet');
const plan = JSON.parse(readFileSync(join(directory, 'out/plan.json'), 'utf8'));
const file = join(directory, 'out/again.html');
simgrad('report', 'out', '--template', process.env.SIMGRAD_PAGE, '--out', 'out/again.html');
const { page, seen } = await openFile(file);
await page.evaluate(() => window.simgrad.drawAll());

const card = page.locator('#plan');
const expected = plan.candidates.filter((each) => each.expected !== null);
const near = (a, b) => assert.ok(Math.abs(a - b) <= 1e-9 * Math.abs(b), `${a} is not ${b}`);
const plain = (text) => text.replaceAll('\u00a0', ' ');
const value = (candidate, key) => (key === 'strategy' ? candidate.label : String(candidate.parameters[key]));

/** The points of the scatter chart: x, y and the place of the candidate. */
async function points() {
  const { series } = await option(page, 'plan');
  return series.filter(({ type }) => type === 'scatter').flatMap(({ data }) => data.map((each) => each.value ?? each));
}

test('it is the first card, and it says the sentence and how much is decided', async () => {
  assert.deepEqual(seen, { errors: [], requests: [] });
  assert.equal(await page.locator('h2').first().textContent(), 'The plan');
  assert.equal(plain(await card.locator('.answer').textContent()), plan.sentence);
  assert.equal(plain(await card.locator('.decided').textContent()), plan.texts.decided);
  assert.equal(await card.locator('.tie').count(), plan.texts.tie === '' ? 0 : 1);
});

test('the page of `plan` and the one of `report` hold the same plan', async () => {
  const { page: other } = await openFile(join(directory, 'out/report.html'));
  const held = (each) => each.evaluate(() => JSON.parse(document.getElementById('simgrad-data').textContent).plan);
  assert.deepEqual(await held(other), await held(page));
});

test('each candidate with expected numbers is a point, and the winner and the front are marked', async () => {
  assert.ok(expected.length > 8);
  for (const [x, y] of [['cost_usd', 'time_s'], ['energy_j', 'time_s'], ['energy_j', 'cost_usd']]) {
    await card.locator('select').nth(0).selectOption(x);
    await card.locator('select').nth(1).selectOption(y);
    const drawn = await points();
    assert.equal(drawn.length, expected.length);
    for (const [atX, atY, place] of drawn) {
      near(atX, plan.candidates[place].expected[x]);
      near(atY, plan.candidates[place].expected[y]);
    }
    const { series } = await option(page, 'plan');
    const marked = series.find(({ id }) => id === 'marked').data.map(({ value: [, , place] }) => plan.candidates[place].candidate);
    assert.deepEqual(new Set(marked), new Set([plan.winner, ...plan.front].map(({ candidate }) => candidate)));
    assert.equal(marked.at(-1), plan.winner.candidate);
  }
});

test('an axis chosen twice changes places with the other one', async () => {
  await card.locator('select').nth(0).selectOption('cost_usd');
  await card.locator('select').nth(1).selectOption('time_s');
  await card.locator('select').nth(0).selectOption('time_s');
  assert.deepEqual([await card.locator('select').nth(0).inputValue(), await card.locator('select').nth(1).inputValue()], ['time_s', 'cost_usd']);
  assert.equal((await option(page, 'plan')).yAxis[0].name, 'cost');
});

test('each cell of the heat map is the least of its pair, and the edged one the least of all', async () => {
  const keys = ['strategy', 'cluster.workers', 'training.learning_rate', 'training.batch_size'];
  const money = (candidate) => candidate.expected?.cost_usd ?? Infinity;
  // "$1.52e−5" is 1.52e-5, up to the digits that are shown.
  const number = (text) => Number(text.replace('$', '').replaceAll(',', '').replaceAll('\u2212', '-'));
  const [rows, columns] = [card.locator('.part select').nth(0), card.locator('.part select').nth(1)];
  for (const row of keys)
    for (const column of keys.filter((key) => key !== row)) {
      await rows.selectOption({ label: row });
      await columns.selectOption({ label: column });
      const heads = (await card.locator('.pairs thead th').allTextContents()).slice(1);
      let known = 0;
      for (const line of await card.locator('.pairs tbody tr').all()) {
        const [name] = await line.locator('th').allTextContents();
        const cells = await line.locator('td').allTextContents();
        cells.forEach((text, i) => {
          const all = expected.filter((each) => value(each, row) === name && value(each, column) === heads[i]);
          if (all.length === 0) return assert.equal(text, 'refused or not known');
          ++known;
          const least = Math.min(...all.map(money));
          assert.ok(Math.abs(number(text) - least) <= 0.006 * least, `${row} ${name}, ${column} ${heads[i]}: ${text} is not ${least}`);
        });
      }
      assert.ok(known >= 4);
      const [edged] = await card.locator('.pairs td.least').allTextContents();
      const least = Math.min(...expected.map(money));
      assert.ok(Math.abs(number(edged) - least) <= 0.006 * least, `${edged} is not ${least}`);
    }
});

test('numbers in the cells have a contrast of 4.5 with their colours, in both themes', async () => {
  const contrasts = () => page.evaluate(() => [...document.querySelectorAll('.pairs td.number')].map((cell) => {
    const luminance = (text) => text.match(/\d+/g).slice(0, 3).map((x) => x / 255).map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4)).reduce((sum, x, i) => sum + [0.2126, 0.7152, 0.0722][i] * x, 0);
    const { color, backgroundColor } = getComputedStyle(cell);
    const [dark, light] = [luminance(color), luminance(backgroundColor)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  }));
  for (const theme of ['light', 'dark']) {
    const all = await contrasts();
    assert.ok(all.length >= 4 && Math.min(...all) >= 4.5, `${theme}: ${all}`);
    await page.locator('.theme').click();
  }
});

test('the refused candidates add up', async () => {
  const refused = plan.refused.reduce((sum, { count }) => sum + count, 0);
  assert.ok(refused > 0);
  const shown = await card.locator('section[aria-labelledby=plan-refused] tbody tr').all();
  assert.equal(shown.length, plan.refused.length);
  let sum = 0;
  for (const [i, row] of shown.entries()) {
    const [reason, count, nearest, fault] = await row.locator('td').allTextContents();
    assert.deepEqual([reason, nearest, fault], [plan.refused[i].reason, plan.refused[i].nearest.text, plan.refused[i].nearest.fault]);
    sum += Number(count.replaceAll(',', ''));
  }
  assert.equal(sum, refused);
  assert.equal(sum + plan.candidates.length, plan.space);
  assert.match(await card.locator('section[aria-labelledby=plan-refused] > p').first().textContent(), new RegExp(`^${sum} of`));
});

test('what limits cost and what turns the winner are lists', async () => {
  const list = async (id) => (await card.locator(`section[aria-labelledby=${id}] li`).allTextContents()).map(plain);
  assert.ok(plan.texts.limits.length > 0);
  assert.deepEqual(await list('plan-limits'), plan.texts.limits);
  assert.deepEqual(await list('plan-turns'), plan.texts.turns);
});

test('the table and its file have all candidates', async () => {
  const [saved] = await Promise.all([page.waitForEvent('download'), card.locator('.data button').click()]);
  assert.equal(saved.suggestedFilename(), 'small-plan.csv');
  const [head, ...rows] = readFileSync(await saved.path(), 'utf8').trim().split('\r\n');
  assert.equal(head, 'candidate,strategy,cluster.workers,training.learning_rate,training.batch_size,state,time [s],cost [$],energy [J]');
  assert.deepEqual(rows.map((row) => Number(row.split(',')[0])), plan.candidates.map(({ candidate }) => candidate));
});

test('a pointer on a point gets the words of its candidate, and markup in them stays text', async () => {
  await page.locator('#plan .plot').scrollIntoViewIfNeeded();
  await card.locator('select').nth(0).selectOption('cost_usd');
  const told = plan.candidates.findIndex(({ label, expected: numbers }, i) => label.startsWith('PS') && numbers && plan.candidates[i].candidate !== plan.winner.candidate);
  assert.ok(told >= 0);
  const text = await page.evaluate((place) => {
    const { series, tooltip } = window.simgrad.option('plan');
    const point = series.flatMap(({ data }) => data).map((each) => each.value ?? each).find(([, , i]) => i === place);
    return [].concat(tooltip)[0].formatter({ value: point }).textContent;
  }, told);
  assert.ok(text.includes('PS <b>bold</b>, workers = '), text);
  assert.equal(await card.locator('b', { hasText: 'bold' }).count(), 0);
});

test('the lists and the heat map are reached by keys', async () => {
  const rows = card.locator('.part select').nth(0);
  await rows.selectOption({ label: 'strategy' });
  await rows.focus();
  await page.keyboard.press('ArrowDown');
  assert.equal(await rows.locator('option:checked').textContent(), 'cluster.workers');
  await card.locator('.part select').nth(1).focus();
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), 'The best of each pair of values');
});

test('nothing is wrong with the page: wide, narrow, dark, on paper', async () => {
  const inspect = await inspector(browser);
  for (let i = 0; i < 2; ++i) assert.deepEqual(await inspect(pathToFileURL(file).href, { print: true }), []);
});

/** A plan of so many candidates, of made-up numbers; half of them have none. money: the hosts have prices. */
function madeUp(count, money = true) {
  const places = Array.from({ length: count }, (_, i) => i);
  const numbers = (of) => places.map((i) => (i % 2 ? null : of(i)));
  return {
    sentence: 'Rent 4 hosts and train with allreduce: $3.00 and 2 h to loss 0.3.', objective: money ? 'cheapest' : 'fastest', tie: '', decided: 'All are decided.', effort: 'Simulated: 1 run with 1 worker step.',
    limits: [], turns: [], winner: 0, ties: [], front: [0], bounds: [{ limit: 'deadline', at_most: 5 }], refused: [],
    candidates: { number: places, label: { texts: ['mapreduce', 'a label of the plan alone'], places: places.map((i) => (i >> 1) % 2) }, state: { texts: ['whole', 'bounded'], places: places.map((i) => i % 2) },
      time_s: numbers((i) => 1 + (i * 7919) % 1000), cost_usd: money ? numbers((i) => 1 + (i * 104729) % 997) : numbers(() => null), energy_j: numbers((i) => 10 + i),
      keys: [{ name: 'cluster.workers', texts: ['16', '4', '8'], places: places.map((i) => (i >> 2) % 3) }, { name: 'cluster.hosts', texts: ['one'], places: places.map(() => 0) }] },
  };
}

test('without prices energy takes the place of money', async () => {
  const { page: other, seen: heard } = await open({ ...fixture(), plan: madeUp(40, false) });
  assert.deepEqual(await other.locator('#plan select').first().locator('option').allTextContents(), ['time', 'energy']);
  assert.equal((await option(other, 'plan')).xAxis[0].name, 'energy');
  assert.deepEqual(heard.errors, []);
});

test('values are in their order, keys of one value are left out, and strategies look as in the other charts', async () => {
  const report = { ...fixture(), plan: madeUp(40) };
  const { page: other } = await open(report);
  assert.deepEqual((await other.locator('.pairs thead th').allTextContents()).slice(1), ['4', '8', '16']);
  assert.deepEqual(await other.locator('#plan .part select').first().locator('option').allTextContents(), ['strategy', 'cluster.workers']);
  const colours = await other.evaluate(() => ['#plan', '#curves'].map((card) => document.querySelector(`${card} .legend path`).getAttribute('fill')));
  assert.equal(colours[0], colours[1]);
});

test('the deadline is drawn and told where a candidate misses it', async () => {
  const { page: other } = await open({ ...fixture(), plan: madeUp(40) });
  const { data } = (await option(other, 'plan')).series.find(({ id }) => id === 'marked').markLine;
  assert.deepEqual(data.map(({ xAxis, yAxis }) => [xAxis, yAxis]), [[undefined, 5]]);
  assert.match(await other.locator('#plan .hint').first().textContent(), /Dots: the deadline, 5.00\u202fs\./);
});

test('20,000 candidates are drawn', async () => {
  const { page: other, seen: heard } = await open({ ...fixture(), plan: madeUp(20000) });
  const { series } = await option(other, 'plan');
  assert.equal(series.filter(({ type }) => type === 'scatter').reduce((sum, { data }) => sum + data.length, 0), 10000);
  assert.deepEqual(heard.errors, []);
});

test('at 390 pixels only the tables scroll sideways, also in Chinese', async () => {
  for (const language of ['en', 'zh']) {
    const { page: other, seen: heard } = await open({ ...fixture(), language, plan: madeUp(40) }, { width: 390, touch: true });
    assert.equal(await other.evaluate(() => document.documentElement.scrollWidth), 390);
    assert.deepEqual(await other.evaluate(faultsOfTables), []);
    assert.deepEqual(heard.errors, []);
  }
});
