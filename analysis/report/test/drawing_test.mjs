// What the page draws of strange results, in Chromium: divergence, numbers at the ends of their range, grids, phones, Chinese.
import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { close, open, option } from './browser.mjs';
import { fixture } from './fixture.mjs';

after(close);

test('in Chinese no text of the page itself is English', async () => {
  const report = { ...fixture({ sizes: [1, 4] }), language: 'zh', complete: false };
  report.gantt.runs[0].to_s *= 100;  // the hint about runs of different lengths
  report.curves.series[0].diverged = { step: 5, seeds: 1, points: 5 };
  const { page, seen } = await open(report);
  assert.equal(await page.evaluate(() => document.documentElement.lang), 'zh-CN');
  assert.ok((await page.locator('h2').allTextContents()).includes('损失与 accuracy'));
  const texts = await page.evaluate(() => {
    const walker = document.createTreeWalker(document.getElementById('page'), NodeFilter.SHOW_TEXT);
    const all = [];
    while (walker.nextNode()) all.push(walker.currentNode.data);
    for (const each of document.querySelectorAll('[aria-label]')) all.push(each.getAttribute('aria-label'));
    for (const id of window.simgrad.ids()) {
      const { xAxis = [], yAxis = [] } = window.simgrad.option(id);
      all.push(...[...xAxis, ...yAxis].map(({ name }) => name ?? ''));
    }
    return all;
  });
  const given = [];
  JSON.stringify(report, (_, value) => { if (typeof value === 'string' && value.length > 1) given.push(value); return value; });
  given.sort((a, b) => b.length - a.length);
  // Names, keys, metrics and units are the same in all languages.
  const same = /\b(simgrad|csv|rank|run|trace|home|ctrl|min|accuracy)\b/gi;
  const left = [...new Set(texts)].filter((text) => /[a-z]{3}/i.test(given.reduce((rest, each) => rest.replaceAll(each, ''), text.replaceAll('\u00a0', ' ')).replace(same, '')));
  assert.deepEqual(left, []);
  assert.deepEqual(seen.errors, []);
});

test('losses from 1e-300 to 1e308, not finite, zero and negative: the page is quick, and no chart is empty without a word', async () => {
  const kinds = [(x) => 10 ** (-300 * x), (x) => 10 ** (308 * x), () => null, (x) => (x > 0.5 ? null : 1), () => 0, (x) => -x, (x) => 1e308 * (x - 0.5), () => 1e308, () => 1e-300];
  for (const [k, loss] of kinds.entries()) {
    const report = fixture({ sizes: [2, 4], evaluations: 50 });
    for (const each of report.curves.series)
      for (const column of ['loss', 'loss_low', 'loss_high', 'consensus']) if (each[column]) each[column] = each[column].map((_, i) => loss(i / 49));
    const { page, seen } = await open(report);
    for (const label of ['Log y', 'Log x']) await page.locator('#curves').getByLabel(label).click();
    const drawn = await option(page, 'curves');
    const points = drawn.series.filter(({ id }) => id?.startsWith('line-')).reduce((sum, { data }) => sum + data.length, 0);
    assert.ok(points > 0 || await page.locator('#curves .empty').isVisible(), `kind ${k}`);
    assert.deepEqual(seen.errors, [], `kind ${k}`);
    await page.close();
  }
});

test('a run that diverges ends at a cross, with its step', async () => {
  const report = fixture();
  const series = report.curves.series.find(({ strategy, point }) => strategy === 1 && point === 4);
  series.loss = series.loss.map((loss, i) => (i < 7 ? loss : null));
  series.diverged = { step: 7, seeds: 2, points: 7 };
  const { page } = await open(report);
  const { series: drawn } = await option(page, 'curves');
  const [ended] = drawn.find(({ id }) => id === 'diverged').data;
  assert.deepEqual(ended.value, [series.simulated_s[6], series.loss[6]]);
  assert.equal(drawn.find(({ id }) => id === 'line-1-allreduce ring').data.length, 7);
  assert.equal(await page.locator('#curves .fits').textContent(), 'Lines end at a cross before divergence: allreduce ring (2 of 5 seeds diverged at step 7).');
  await page.locator('#curves select:visible').selectOption('0');
  assert.equal(await page.locator('#curves .fits:visible').count(), 0);
  assert.equal(await page.locator('#curves .fits').textContent(), '');  // nor is there a sentence without a name
});

test('lines of one strategy at several values of a key differ in dash and marker, and a key names the values', async () => {
  const report = fixture();
  report.speedup.series = report.speedup.series.flatMap((each) => ['bandwidth=100Mbps', 'bandwidth=1Gbps'].map((text) => ({ ...each, text })));
  const { page, seen } = await open(report);
  const ofOne = (await option(page, 'speedup')).series.filter(({ id }) => id.startsWith('line-0-'));
  assert.equal(ofOne.length, 2);
  assert.notDeepEqual(ofOne[0].lineStyle.type, ofOne[1].lineStyle.type);
  assert.notEqual(ofOne[0].symbol, ofOne[1].symbol);
  assert.deepEqual(await page.locator('#speedup .legend:not([role])').locator('.key').allTextContents(), ['bandwidth=100Mbps', 'bandwidth=1Gbps']);
  // One sign has one meaning: a strategy is a colour alone.
  assert.equal(await page.locator('#speedup .legend[role] svg path').count(), 0);
  assert.deepEqual(await page.locator('#speedup .legend[role] svg line').evaluateAll((all) => all.map((line) => line.getAttribute('stroke-dasharray'))), Array(4).fill('none'));
  assert.equal(await page.locator('#curves .legend[role] svg path').count(), 4);
  assert.deepEqual(seen.errors, []);
});

test('a chart shows the grid point that its sentence speaks of, until the reader chooses one', async () => {
  const report = fixture();
  report.curves.about = { strategy: 1, point: 2 };
  report.collectives.about = { strategy: 0, point: 1 };
  report.links.about = { strategy: 3, point: 3 };
  const { page } = await open(report);
  const told = async (id) => page.locator(`#${id} .list:visible select`).last().locator('option:checked').textContent();
  assert.deepEqual([await told('curves'), await told('time'), await told('collectives'), await told('links')], ['4 workers', '4 workers', '2 workers', '8 workers']);
  assert.equal(await page.locator('#links select').first().inputValue(), '3');
  await page.locator('#time select:visible').selectOption('4');
  assert.deepEqual([await told('curves'), await told('time'), await told('collectives'), await told('links')], Array(4).fill('16 workers'));
});

test('a short run beside a long one is seen: the window is as long as the short one', async () => {
  const report = fixture();
  const [one, other] = report.gantt.runs;
  for (const key of ['from', 'to']) other[key] = other[key].map((t) => 60 * t);
  other.to_s *= 60;
  one.whole = other.whole = true;
  const { page } = await open(report);
  const { from, to, extent } = await option(page, 'gantt');
  assert.deepEqual([from, extent], [0, [0, other.to_s]]);
  assert.ok(Math.abs(to - 1.1 * one.to_s) < 1e-9);
  assert.match(await page.locator('#gantt .hint').textContent(), /differ much in length/);
});

test('a run that was recorded only at its beginning has no empty rows at first, and a hint says that it goes on', async () => {
  const report = fixture();
  const [one, other] = report.gantt.runs;
  for (const key of ['from', 'to']) other[key] = other[key].map((t) => 2 * t);
  Object.assign(other, { to_s: 2 * other.to_s, whole: true });
  const { page } = await open(report);
  const { from, to, extent } = await option(page, 'gantt');
  assert.deepEqual([from, to, extent], [0, one.to_s, [0, other.to_s]]);
  assert.match(await page.locator('#gantt .hint').textContent(), /both runs go on/);
});

test('the time chart first shows both cases of its sentence, at whatever grid points they are', async () => {
  const bars = async (report) => (await option((await open(report)).page, 'time')).yAxis[0].data;
  const report = fixture();
  Object.assign(report.time, { about: { strategy: 1, point: 4 }, other: { strategy: 1, point: 0 } });
  assert.deepEqual(await bars(report), report.points.map(({ text }) => text));
  report.time.other = { strategy: 0, point: 0 };
  assert.deepEqual((await bars(report)).slice(-1), ['mapreduce, 1 worker']);
  const { page } = await open(report);
  await page.locator('#time select:visible').selectOption('2');
  assert.equal((await option(page, 'time')).yAxis[0].data.length, 4);
});

test('the line of the ideal passes behind the numbers of the bars', async () => {
  const report = fixture({ sizes: [4] });
  for (const width of [390, 1280]) {
    const [bars] = (await option((await open(report, { width, touch: width < 500 })).page, 'speedup')).series;
    assert.match(bars.label.backgroundColor, /^#|^rgb/);
    assert.ok(bars.markLine.z < 2, 'the line lies on the bars');  // of a bar, where nothing is said
  }
});

test('on a phone no hint names keys that a phone does not have', async () => {
  const { page } = await open(fixture(), { width: 390, touch: true });
  for (const hint of await page.locator('.hint:visible').allTextContents()) assert.doesNotMatch(hint, /Ctrl|press/);
});
