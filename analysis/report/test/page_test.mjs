// The page in Chromium, with a made-up report.
import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { close, eventually, open, openFile, option, template } from './browser.mjs';
import { fixture } from './fixture.mjs';

after(close);

const labels = (report) => report.strategies.map(({ label }) => label);
const series = (drawn, id) => drawn.series.find((each) => each.id === id);

test('the template has one slot, and at most 1.5 MB', () => {
  assert.equal(template.split('@simgrad-data@').length, 2);
  assert.ok(template.length < 1.5e6);
});

test('it opens from a file, asks for nothing, and complains about nothing', async () => {
  const { page, seen } = await open(fixture());
  assert.deepEqual(seen, { errors: [], requests: [] });
  const titles = await page.locator('h2').allTextContents();
  assert.deepEqual(titles, ['Loss and accuracy', 'Where the time went', 'Speed-up and efficiency', 'Cost, energy and time', 'Timeline of the ranks',
    'The network', 'Collectives: predicted and simulated', 'Staleness of the gradients', 'Distance between the replicas', 'Reproduce the results']);
  for (const link of await page.locator('nav a').all()) assert.equal(await page.locator(await link.getAttribute('href')).count(), 1);
});

test('the page itself forbids requests', async () => {
  const { page, seen } = await open(fixture());
  const blocked = await page.evaluate(() => fetch('https://example.org/').then(() => 'let through', (error) => error.name));
  assert.equal(blocked, 'TypeError');
  assert.ok(seen.errors.some((error) => error.includes("default-src 'none'")), seen.errors.join());
});

test('lines are the data, and the axis can be chosen', async () => {
  const report = fixture();
  const { page } = await open(report);
  const here = report.curves.series.find(({ strategy, point }) => strategy === 1 && point === 4);
  assert.deepEqual(series(await option(page, 'curves'), 'line-1-allreduce ring').data, here.simulated_s.map((x, i) => [x, here.loss[i]]));
  await page.locator('#curves input[value=step]').check();
  await page.locator('#curves input[value=metric]').check();
  assert.deepEqual(series(await option(page, 'curves'), 'line-1-allreduce ring').data, here.step.map((x, i) => [x, here.metric[i]]));
  await page.locator('#curves select:visible').selectOption('2');
  const other = report.curves.series.find(({ strategy, point }) => strategy === 1 && point === 2);
  assert.deepEqual(series(await option(page, 'curves'), 'line-1-allreduce ring').data, other.step.map((x, i) => [x, other.metric[i]]));
  assert.equal(await page.locator('#time select:visible').inputValue(), '2');  // one choice for all charts
  await page.locator('#curves input[value=points]').check();
  await page.locator('#curves select:visible').selectOption('1');
  assert.deepEqual((await option(page, 'curves')).series.filter(({ id }) => id.startsWith('line-')).map(({ name }) => name), report.points.map(({ text }) => text));
  assert.deepEqual(series(await option(page, 'curves'), 'line-2-4 workers').data, other.step.map((x, i) => [x, other.metric[i]]));
});

test('energy, bytes and operations are axes where they were recorded, also as lines over other columns', async () => {
  const report = fixture();
  for (const each of report.curves.series) {
    each.energy_j = each.simulated_s.map((x) => 300 * x * x);
    each.bytes = { of: 'step', from: 100, per: 808 };
    each.flops = { of: 'simulated_s', from: 0, per: 1e9 };
  }
  const { page, seen } = await open(report);
  const here = report.curves.series.find(({ strategy, point }) => strategy === 1 && point === 4);
  const x = async (axis) => {
    await page.locator(`#curves input[value=${axis}]`).check();
    const drawn = await option(page, 'curves');
    return [drawn.xAxis[0].name, series(drawn, 'line-1-allreduce ring').data.map(([first]) => first)];
  };
  assert.deepEqual(await x('energy_j'), ['energy', here.energy_j]);
  assert.deepEqual(await x('bytes'), ['bytes', here.step.map((step) => 100 + 808 * step)]);
  assert.deepEqual(await x('flops'), ['floating-point operations', here.simulated_s.map((s) => 1e9 * s)]);
  assert.deepEqual(seen.errors, []);
  const [file] = await Promise.all([page.waitForEvent('download'), page.locator('#curves').getByText('Download CSV').click()]);
  const [head, , second] = readFileSync(await file.path(), 'utf8').split('\r\n').map((line) => line.split(','));
  assert.deepEqual(head.slice(5, 9), ['cost [USD]', 'energy [J]', 'bytes [B]', 'floating-point operations']);
  assert.equal(second[7], '908');
  assert.equal(await (await open(fixture())).page.locator('#curves input[value=flops]').count(), 0);
});

test('bars are the data: time, staleness, collectives', async () => {
  const report = fixture();
  const { page } = await open(report);
  const time = await option(page, 'time');
  const rows = report.time.rows.filter(({ point }) => point === 4);
  assert.deepEqual(time.series.map(({ data }) => data), [0, 1, 2, 3].map((part) => rows.map(({ parts }) => parts[part])));
  const stale = report.staleness.rows.find(({ point }) => point === 4);
  const sum = stale.counts.reduce((a, b) => a + b);
  const drawn = (await option(page, 'staleness')).series[0].data;
  stale.counts.forEach((count, i) => assert.ok(Math.abs(drawn[i] - count / sum) < 1e-12));
  const collectives = (await option(page, 'collectives')).series;
  const calls = report.collectives.rows.filter(({ point }) => point === 4);
  assert.deepEqual(collectives.map(({ data }) => data.map(({ value }) => value)), ['predicted_s', 'simulated_s'].map((of) => calls.map((row) => row[of])));
  await page.locator('#collectives .toggle', { hasText: 'Exposed and hidden' }).locator('input').check();
  const divided = (await option(page, 'collectives')).series;
  assert.deepEqual(divided.map(({ id, data }) => [id, data.map(({ value }) => value)]), [
    ['exposed', calls.map(({ exposed_s }) => exposed_s)], ['hidden', calls.map(({ duration_s, exposed_s }) => duration_s - exposed_s)]]);
});

test('the network has its vertices and its links, the busiest of them first', async () => {
  const report = fixture();
  const { page } = await open(report);
  const graph = (await option(page, 'links')).series[0];
  assert.equal(graph.data.length, 17);
  assert.equal(graph.links.length, 32);
  await page.locator('#links input[value=bars]').check();
  await page.locator('#links select').first().selectOption('2');
  const bars = await option(page, 'links');
  assert.equal(bars.yAxis[0].data[0], 'host-0 up');
  assert.equal(bars.series[0].data[0].value, 0.97);
  await page.locator('#links input[value=heat]').check();
  assert.equal((await option(page, 'links')).series[0].data.length, 32 * 40);
});

test('the cells of the heat are as wide as their intervals', async () => {
  const report = fixture({ sizes: [4] });
  for (const { heat } of report.links.rows) Object.assign(heat, { edges_s: [0, 1, 4], names: ['a', 'b'], values: [[0, 1], [0, 1]] });
  const { page } = await open(report);
  await page.locator('#links input[value=heat]').check();
  const counted = () => page.evaluate(() => {
    window.simgrad.option('links');
    const canvas = document.querySelector('#links canvas');
    const { data } = canvas.getContext('2d').getImageData(0, Math.round(canvas.height * 0.1), canvas.width, 1);
    const pixels = Array.from({ length: canvas.width }, (_, i) => [...data.slice(4 * i, 4 * i + 3)].join());
    return ['213,223,233', '38,36,94'].map((colour) => pixels.filter((each) => each === colour).length);
  });
  // The canvas is painted in a frame to come.
  const [idle, busy] = await eventually(counted, ([a, b]) => a > 0 && b > 0);
  assert.ok(idle > 100 && Math.abs(busy - 3 * idle) < 12, `${idle}, ${busy}`);
});

test('a chart without rows at the chosen point draws the one most like it, and its list says so', async () => {
  const report = fixture();
  report.collectives.rows = report.collectives.rows.filter(({ point }) => point < 4);
  report.curves.series.forEach((each) => { if (each.point > 2) each.consensus = null; });
  const { page } = await open(report);
  const told = (id) => page.locator(`#${id} .list:visible select`).last().locator('option:checked').textContent();
  const predicted = async () => (await option(page, 'collectives')).series[0].data.map(({ value }) => value);
  const of = (at) => report.collectives.rows.filter(({ point }) => point === at).map((row) => row.predicted_s);
  assert.deepEqual([await told('curves'), await told('collectives'), await told('consensus')], ['16 workers', '8 workers', '4 workers']);
  assert.deepEqual(await predicted(), of(3));
  assert.ok((await option(page, 'consensus')).series.some(({ data }) => data.length > 100));
  await page.locator('#collectives select').selectOption('1');
  assert.deepEqual(await predicted(), of(1));
  assert.deepEqual([await told('curves'), await told('consensus')], ['2 workers', '2 workers']);
});

test('names stand at the lines\u2019 ends where there is room', async () => {
  const shown = async (settings, width) => ((await option((await open(fixture(settings), { width })).page, 'curves')).series.find(({ id }) => id === 'names')?.data ?? []).map(({ name }) => name);
  assert.deepEqual(await shown({}, 1280), labels(fixture()));
  assert.deepEqual(await shown({}, 390), []);
  const names = Array.from({ length: 12 }, (_, i) => `strategy ${i}`);
  assert.deepEqual(await shown({ strategies: 12, names }, 1280), []);
});

test('axes have ticks: fewer where it is narrow', async () => {
  const ticks = async (width) => {
    const { page } = await open(fixture(), { width });
    await page.getByLabel('Log x').check();
    const { xAxis: [x], yAxis: [y] } = await option(page, 'curves');
    return [x.axisLabel.customValues.length, y.axisLabel.customValues.length];
  };
  const [[wideX, wideY], [narrowX, narrowY]] = [await ticks(1280), await ticks(390)];
  assert.ok(wideX > 4 && wideY > 3 && narrowX > 1 && narrowX <= 4 && narrowY === wideY, `${[wideX, wideY, narrowX, narrowY]}`);
});

test('the fronts of cost and of energy are those of the data', async () => {
  const report = fixture();
  report.pareto.rows.forEach((row, i) => { row.front_energy = i % 3 === 0; });
  const { page } = await open(report);
  const front = async () => series(await option(page, 'pareto'), 'front').data;
  const of = (paid, flag) => report.pareto.rows.filter((row) => row[flag]).map((row) => [row[paid], row.time_s]).sort((a, b) => a[0] - b[0]);
  assert.deepEqual(await front(), of('cost_usd', 'front'));
  await page.locator('#pareto input[value=energy_j]').check();
  assert.deepEqual(await front(), of('energy_j', 'front_energy'));
});

test('jobs beside each other are not called fastest', async () => {
  const report = fixture();
  const line = (label, point) => ({ by: 'time', label, point, text: '262 ms' });
  const heads = async (...winners) => {
    Object.assign(report.summary, { winners });
    return (await open(report)).page.locator('.winner h3').allTextContents();
  };
  assert.deepEqual(await heads(line('one', ''), line('other', '')), ['Time', 'Time']);
  assert.deepEqual(await heads(line('one', 'features=1'), line('other', 'features=2')), ['Fastest', 'Fastest']);
});

test('the bottleneck of the fastest is named', async () => {
  const report = fixture();
  const bottleneck = { name: 'a: b', text: 'its link: 97 %' };
  Object.assign(report.summary, { bottleneck });
  assert.equal(await (await open(report)).page.locator('.bottleneck').textContent(), 'Bottleneck of a: b: its link: 97\u00a0%');
  Object.assign(report.summary, { bottleneck: null });
  assert.equal(await (await open(report)).page.locator('.bottleneck').count(), 0);
});

test('a label with markup in it stays text: legend, table, tooltip, file', async () => {
  const label = '</script><script>alert(1)</script><img src=x onerror=alert(2)>';
  const { page, seen } = await open(fixture({ names: ['mapreduce', label, 'async PS', '=cmd()'] }));
  assert.equal(await page.locator('#curves .key').nth(1).textContent(), label);
  await page.locator('#speedup summary').click();
  await page.locator('#speedup tbody').waitFor();
  assert.ok((await page.locator('#speedup td').allTextContents()).includes(label));
  await page.locator('#curves .plot').scrollIntoViewIfNeeded();
  const box = await page.locator('#curves .plot').boundingBox();
  let moves = 0;
  const told = () => page.mouse.move(box.x + box.width / 3 + (++moves % 8), box.y + box.height / 2, { steps: 4 })
    .then(() => page.evaluate(() => document.querySelector('#curves .tip')?.textContent ?? ''));
  assert.ok((await eventually(told, (text) => text !== '')).includes(label));
  assert.equal(await page.locator('img').count(), 0);
  assert.equal(await page.locator('script').count(), 2);
  assert.deepEqual(seen, { errors: [], requests: [] });
});

test('the table and the file have the numbers of the data', async () => {
  const report = fixture();
  const { page } = await open(report);
  for (const id of ['time', 'speedup', 'pareto']) {
    await page.locator(`#${id} summary`).click();
    await page.locator(`#${id} tbody`).waitFor();
    assert.equal(await page.locator(`#${id} tbody tr`).count(), report[id].table.rows.length);
    const [file] = await Promise.all([page.waitForEvent('download'), page.locator(`#${id}`).getByText('Download CSV').click()]);
    assert.equal(file.suggestedFilename(), `house_prices-${id}.csv`);
    const lines = readFileSync(await file.path(), 'utf8').trim().split('\r\n');
    assert.deepEqual(lines.slice(1), report[id].table.rows.map((row) => row.map((x) => x ?? '').join(',')));
  }
  const [file] = await Promise.all([page.waitForEvent('download'), page.locator('#curves').getByText('Download CSV').click()]);
  const lines = readFileSync(await file.path(), 'utf8').trim().split('\r\n');
  const { series } = report.curves;
  assert.equal(lines[0], 'strategy,parameters,step,simulated [s],epochs,cost [USD],loss,"loss, low","loss, high",accuracy,consensus distance');
  assert.equal(lines.length, 1 + series.length * series[0].step.length);
  assert.deepEqual(lines[3].split(',').slice(0, 7), [labels(report)[series[0].strategy], '1 worker', ...['step', 'simulated_s', 'epochs', 'cost_usd', 'loss'].map((key) => String(series[0][key][2]))]);
});

test('everything is reached by keyboard, and a strategy is hidden in all charts', async () => {
  const { page } = await open(fixture());
  const key = page.locator('#curves .key').nth(1);
  await key.focus();
  await page.keyboard.press('Enter');
  assert.equal(await key.getAttribute('aria-pressed'), 'false');
  assert.equal(series(await option(page, 'curves'), 'line-1-allreduce ring'), undefined);
  assert.deepEqual((await option(page, 'time')).yAxis[0].data, ['mapreduce', 'async PS', 'gossip on a ring']);
  await page.keyboard.press('Enter');
  assert.equal(await key.getAttribute('aria-pressed'), 'true');
  await page.keyboard.press('Enter');
  await page.locator('#curves .key.all').focus();
  await page.keyboard.press('Space');
  assert.ok(series(await option(page, 'curves'), 'line-1-allreduce ring'));
  await page.locator('#curves input[value=simulated_s]').focus();
  await page.keyboard.press('ArrowRight');
  assert.equal((await option(page, 'curves')).xAxis[0].name, 'step');
  for (const plot of await page.locator('[role=img]').all()) assert.ok((await plot.getAttribute('aria-label')).length > 20);
});

test('a phone needs no sideways scrolling', async () => {
  const long = 'parameter_server(consistency=ssp, staleness=4, servers=2, compression=top_k)';
  const { page, seen } = await open(fixture({ names: ['mapreduce', long, `${long}, again`, 'gossip'] }), { width: 390, touch: true });
  await page.locator('#time summary').click();
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
  assert.deepEqual(seen.errors, []);
});

test('dark as the system says, and as the reader says', async () => {
  const { page } = await open(fixture(), { scheme: 'dark' });
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const colour = async () => series(await option(page, 'curves'), 'line-0-mapreduce').lineStyle.color;
  assert.deepEqual([await background(), await colour()], ['rgb(15, 20, 27)', '#4aa3e0']);
  await page.getByRole('button', { name: 'Switch to light colours' }).click();
  assert.deepEqual([await background(), await colour()], ['rgb(244, 246, 248)', '#0072b2']);
});

test('on paper it is light, whole, and dark again afterwards', async () => {
  const { page, seen } = await open(fixture(), { scheme: 'dark' });
  await page.evaluate(() => addEventListener('beforeprint', () => {
    window.inPrint = { theme: document.documentElement.dataset.theme, drawn: window.simgrad.ids().every((id) => window.simgrad.option(id)) };
  }));
  const pdf = await page.pdf({ format: 'A4', printBackground: true });
  assert.deepEqual(await page.evaluate(() => window.inPrint), { theme: 'light', drawn: true });
  assert.ok(pdf.length > 20000);
  assert.equal(await eventually(() => page.evaluate(() => document.documentElement.dataset.theme), (theme) => theme === 'dark'), 'dark');
  assert.deepEqual(seen.errors, []);
});

test('charts without data are left out', async () => {
  const report = fixture({ sizes: [4] });
  Object.assign(report, { speedup: null, pareto: null, staleness: null, links: null, gantt: null, collectives: null, consensus: null, target: null, complete: false });
  report.points[0].text = '';
  report.curves.series.forEach((each) => Object.assign(each, { loss_low: null, loss_high: null, cost_usd: null, metric: null }));
  const { page, seen } = await open(report);
  assert.deepEqual(await page.locator('h2').allTextContents(), ['Loss', 'Where the time went', 'Reproduce the results']);
  assert.equal(await page.locator('select:visible').count(), 0);
  assert.match(await page.locator('.warning').textContent(), /not complete/);
  assert.deepEqual(seen.errors, []);
});

test('with one size, speed-ups are bars', async () => {
  const report = fixture({ sizes: [8] });
  const { page, seen } = await open(report);
  const [bars] = (await option(page, 'speedup')).series;
  assert.deepEqual(bars.data.map(({ value }) => value), report.speedup.series.map(({ speedup }) => speedup[0]));
  assert.equal(bars.markLine.data[0].xAxis, 8);
  assert.deepEqual(seen.errors, []);
});

test('losses that are not numbers, and lines without a point, are no errors', async () => {
  const report = fixture();
  report.curves.series.forEach((each, i) => { each.loss = each.loss.map((x, k) => (i % 3 === 0 || k > 5 ? null : -x)); });
  const { seen } = await open(report);
  assert.deepEqual(seen.errors, []);
});

test('without data the page says so', async () => {
  const { page } = await openFile(process.env.SIMGRAD_PAGE);
  assert.match(await page.locator('[role=alert]').textContent(), /has no data/);
});
