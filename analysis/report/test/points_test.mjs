// The table of all results: sorted, filtered, saved, by mouse and keys, on a wide screen and a narrow one.
import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { close, open } from './browser.mjs';
import { fixture } from './fixture.mjs';
import { faultsOfTables } from './inspect.mjs';

after(close);

/** Three strategies at two sizes; the third diverged at both. */
function withTable() {
  const report = fixture({ strategies: 3, sizes: [8, 16] });
  const rows = [[0, 0, 0.3], [0, 1, 0.02], [1, 0, 4], [1, 1, 0.1], [2, 0, null], [2, 1, null]].map(([strategy, point, time]) => ({
    strategy, point, values: [['8', '16'][point]], time_s: [time, time === null ? null : time / 10], cost_usd: [time, null], energy_j: [null, null],
    speedup: time === null ? null : 1 / time, efficiency: time === null ? null : 0.5, seeds: 3, reached: time === null ? 0 : 3,
    status: time === null ? 'diverged' : 'reached', final_loss: 0.019, binds: '',
  }));
  const table = { columns: [{ name: 'strategy', unit: '' }, { name: 'time to target', unit: 's' }], rows: rows.map(({ strategy, time_s }) => [report.strategies[strategy].label, time_s[0]]) };
  return { ...report, points_table: { sentence: '6 cases, 4 of which reach the target.', table, keys: ['workers'], to_target: true, rows } };
}

const column = (page, i) => page.locator(`#points tbody tr td:nth-child(${i + 1})`).allTextContents();
const head = (page, name) => page.locator('#points th button', { hasText: name });

test('it stands before the charts, and columns without numbers are left out', async () => {
  const { page, seen } = await open(withTable());
  assert.deepEqual(seen, { errors: [], requests: [] });
  assert.equal((await page.locator('h2').allTextContents())[0], 'All results');
  assert.deepEqual(await page.locator('#points th').allTextContents(),
    ['strategy', 'workers', 'time to target', 'cost to target', 'speed-up to target', 'efficiency to target', 'target reached', 'status', 'final loss']);
  assert.equal((await column(page, 2))[0], '300\u202fms ± 30');
  assert.equal((await column(page, 6))[4], '0 of 3');
});

test('values of the grid are sorted as numbers, and long ones have few digits where they stay different', async () => {
  const shown = async (one, other) => {
    const report = withTable();
    for (const row of report.points_table.rows) row.values = [row.point ? one : other];
    const { page } = await open(report);
    await head(page, 'workers').click();
    return (await column(page, 1)).filter((_, i) => i % 3 === 0);
  };
  assert.deepEqual(await shown('123456789012345', '1e-05'), ['1e-05', '1.23457e14']);
  assert.deepEqual(await shown('123456789012345', '123456789012346'), ['123456789012345', '123456789012346']);
});

test('each column sorts up, then down; what is missing comes last', async () => {
  const { page } = await open(withTable());
  await head(page, 'time to target').click();
  assert.deepEqual((await column(page, 2)).map((text) => text.split(' ±')[0]), ['20.0\u202fms', '100\u202fms', '300\u202fms', '4000\u202fms', '–', '–']);
  assert.equal(await page.locator('#points th[aria-sort=ascending]').textContent(), 'time to target');
  await head(page, 'time to target').click();
  assert.deepEqual((await column(page, 2)).map((text) => text.split(' ±')[0]), ['4000\u202fms', '300\u202fms', '100\u202fms', '20.0\u202fms', '–', '–']);
  // 8 before 16: texts with numbers are sorted as numbers.
  await head(page, 'workers').click();
  assert.deepEqual(await column(page, 1), ['8', '8', '8', '16', '16', '16']);
});

test('at 1280 pixels a row of the fullest table has at most two lines, and every column is seen', async () => {
  const report = withTable();
  report.strategies[0].label = 'federated_averaging';
  const { rows } = report.points_table;
  rows.forEach((row, i) => Object.assign(row, { speedup: 0.0546, speedup_margin: 0.00093, energy_j: [1234, 56], binds: ['latency and worker speed', 'not tried', 'server speed'][i % 3] }));
  const { page } = await open(report);
  const heights = await page.locator('#points tbody tr').evaluateAll((all) => all.map((row) => row.getBoundingClientRect().height));
  assert.ok(Math.max(...heights) < 54, `${heights}`);
  const [wide, room] = await page.locator('#points .scroll').evaluate((box) => [box.scrollWidth, box.clientWidth]);
  assert.ok(wide <= room, `${wide} of ${room}`);
  assert.match((await page.locator('#points tbody tr').first().textContent()).replaceAll('\u202f', ' '), /0\.0546× ± 0\.00093/);
});

test('it is used by keys alone', async () => {
  const { page } = await open(withTable());
  await head(page, 'final loss').focus();
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Enter');
  assert.equal(await page.locator('#points th[aria-sort=ascending]').textContent(), 'status');
  await page.locator('#points input[type=search]').focus();
  await page.keyboard.type('DIVERGED 16');
  assert.equal(await page.locator('#points tbody tr').count(), 1);
  assert.equal(await page.locator('#points [aria-live]').textContent(), '1 of 6 rows');
});

test('the CSV file has every row, however the table is filtered', async () => {
  const report = withTable();
  const { page } = await open(report);
  await page.locator('#points input[type=search]').fill('diverged');
  const [saved] = await Promise.all([page.waitForEvent('download'), page.locator('#points button', { hasText: 'Download CSV' }).click()]);
  assert.equal(saved.suggestedFilename(), 'house_prices-points.csv');
  assert.equal(readFileSync(await saved.path(), 'utf8').trim().split('\r\n').length, 7);
});

test('at 390 pixels the table scrolls by itself, and the page does not', async () => {
  const { page, seen } = await open(withTable(), { width: 390, touch: true });
  assert.deepEqual(seen.errors, []);
  const wide = await page.evaluate(() => [document.documentElement.scrollWidth, document.querySelector('#points .scroll').scrollWidth, document.querySelector('#points .scroll').clientWidth]);
  assert.ok(wide[0] <= 390, `the page is ${wide[0]} wide`);
  assert.ok(wide[1] > wide[2], 'the table does not scroll');
});

test('no text of the table leaves its column, and its head stays in front of the rows', async () => {
  const report = withTable();
  report.strategies[1].label = 'averylonglabelwithoutanyspaceswhichcannotbebrokenatall';
  report.points_table.rows.push(...Array.from({ length: 4 }, () => report.points_table.rows).flat());
  for (const width of [390, 1280]) {
    const { page } = await open(report, { width });
    assert.deepEqual(await page.evaluate(faultsOfTables), [], `${width} pixels`);
  }
});
