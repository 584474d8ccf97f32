// The lanes in Chromium: what is under the pointer, zoom, pan, brush, keys.
import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { close, eventually, frames, open } from './browser.mjs';
import { fixture } from './fixture.mjs';

after(close);

/** Returns the chart's state after the frame that draws it. */
async function state(page) {
  await frames(page);
  return page.evaluate(() => window.simgrad.option('gantt'));
}
/** Returns the chart's state once it holds, for wheels and fingers are told to the page after the call returns. */
const once = (page, holds) => eventually(() => state(page), holds);

async function opened(settings = {}) {
  const report = fixture();
  const { page, seen } = await open(report, settings);
  const canvas = page.locator('#gantt .lanes').first();
  await canvas.scrollIntoViewIfNeeded();
  await frames(page);  // observers of sizes have spoken
  return { report, page, seen, canvas, box: await canvas.boundingBox() };
}

test('a bar tells its rank, kind, step, bytes and peer', async () => {
  const { report, page, box } = await opened();
  const run = report.gantt.runs[0];
  const bar = run.kind.findIndex((kind, i) => kind === 1 && run.lane[i] === 3);
  const { from, to, rows: [{ top, row, gutter, width }] } = await state(page);
  const x = gutter + (((run.from[bar] + run.to[bar]) / 2 - from) / (to - from)) * (width - gutter);
  await page.mouse.move(box.x + x, box.y + top + 3.5 * row);
  const text = (await page.locator('#gantt .bubble:visible').textContent()).replaceAll('\u202f', ' ');
  assert.match(text, /rank 3 \(host-3\): allreduce.*communicate.*step0.*bytes808 B.*peerrank 4/);
});

test('a bar of waiting tells its cause', async () => {
  const report = fixture();
  const [run] = report.gantt.runs;
  // Of all waits the first one of lane 3 is for a server, the others for a gradient, or nothing is known.
  const bar = run.kind.findIndex((kind, i) => kind === 2 && run.lane[i] === 3);
  const waits = run.kind.flatMap((kind, i) => (kind === 2 ? [i] : []));
  run.waits = waits.map((i) => (i === bar ? '2' : run.lane[i] === 2 ? '8' : '0')).join('');
  const { page, seen } = await open(report);
  const canvas = page.locator('#gantt .lanes').first();
  await canvas.scrollIntoViewIfNeeded();
  const { from, to, rows: [{ top, row, gutter, width }] } = await state(page);
  const box = await canvas.boundingBox();
  const told = async (i) => {
    const x = gutter + (((run.from[i] + run.to[i]) / 2 - from) / (to - from)) * (width - gutter);
    await page.mouse.move(box.x + x, box.y + top + (run.lane[i] + 0.5) * row);
    return page.locator('#gantt .bubble:visible .line span').first().textContent();
  };
  assert.equal(await told(bar), "waiting for a server's processor");
  assert.equal(await told(waits.find((i) => run.lane[i] === 5)), 'waiting for a gradient');
  assert.equal(await told(waits.find((i) => run.lane[i] === 2)), 'wait');
  assert.deepEqual(seen.errors, []);
});

test('a host that is down, and then waits for the others, has one name, on a ground of its own', async () => {
  const report = fixture();
  const [run] = report.gantt.runs;
  for (const key of ['kind', 'name', 'from', 'to', 'step', 'peer', 'bytes', 'lane']) run[key] = run[key].filter((_, i) => run.lane[i] !== 2);
  const insert = (from, to) => Object.entries({ lane: 2, kind: 3, name: 3, from, to, step: null, peer: null, bytes: null }).forEach(([key, value]) => run[key].push(value));
  insert(0.3 * run.to_s, 0.5 * run.to_s);
  insert(0.5 * run.to_s, 0.9 * run.to_s);
  const { page } = await open(report);
  const said = await page.evaluate(() => {
    const [texts, write] = [[], CanvasRenderingContext2D.prototype.fillText];
    CanvasRenderingContext2D.prototype.fillText = function fillText(text, ...rest) { texts.push([text, this.fillStyle]); return write.call(this, text, ...rest); };
    document.querySelector('#gantt .tools button:last-child').click();
    return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(texts))));
  });
  const crashes = said.filter(([text]) => text === 'crash');
  assert.equal(crashes.length, 1, JSON.stringify(said.slice(0, 40)));
  assert.notEqual(crashes[0][1], '#2b1a00');
});

test('keys pan and zoom, Home shows all', async () => {
  const { page, canvas } = await opened();
  await canvas.focus();
  await page.keyboard.press('+');
  const closer = await state(page);
  const whole = closer.extent[1] - closer.extent[0];
  assert.ok(Math.abs(closer.to - closer.from - 0.8 * whole) < 1e-9);
  await page.keyboard.press('ArrowRight');
  const moved = await state(page);
  assert.ok(Math.abs(moved.from - closer.from - 0.08 * whole) < 1e-9);
  assert.ok(moved.seen[0] < closer.seen[0] + 1 && moved.seen[0] > 0);
  await page.keyboard.press('Home');
  const all = await state(page);
  assert.deepEqual([all.from, all.to], all.extent);
});

test('Ctrl and the wheel zoom around the pointer; the wheel alone scrolls the page', async () => {
  const { page, box } = await opened();
  await page.mouse.move(box.x + box.width / 2, box.y + 100);
  const before = await state(page);
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -120);
  await page.keyboard.up('Control');
  const after_ = await once(page, ({ from, to }) => to - from < 0.75 * (before.to - before.from));
  assert.ok(after_.to - after_.from < 0.75 * (before.to - before.from));
  const top = await page.evaluate(() => scrollY);
  await page.mouse.wheel(0, 120);
  await page.waitForFunction((was) => scrollY > was, top);
  assert.equal((await state(page)).to, after_.to);
});

test('dragging pans, the brush chooses a window, buttons zoom', async () => {
  const { page, box } = await opened();
  const overview = await page.locator('#gantt .overview').boundingBox();
  const gutter = (await state(page)).rows[0].gutter;
  const at = (share) => overview.x + gutter + share * (overview.width - gutter);
  await page.mouse.move(at(0.25), overview.y + 20);
  await page.mouse.down();
  await page.mouse.move(at(0.5), overview.y + 20, { steps: 3 });
  await page.mouse.up();
  const share = (t, { extent }) => (t - extent[0]) / (extent[1] - extent[0]);
  const chosen = (now) => Math.abs(share(now.from, now) - 0.25) < 0.005 && Math.abs(share(now.to, now) - 0.5) < 0.005;
  const brushed = await once(page, chosen);
  assert.ok(chosen(brushed), JSON.stringify(brushed));
  await page.mouse.move(box.x + 600, box.y + 80);
  await page.mouse.down();
  await page.mouse.move(box.x + 500, box.y + 80, { steps: 3 });
  await page.mouse.up();
  const panned = await once(page, ({ from }) => from > brushed.from);
  assert.ok(panned.from > brushed.from && Math.abs(panned.to - panned.from - (brushed.to - brushed.from)) < 1e-9);
  await page.getByRole('button', { name: 'Zoom in' }).click();
  assert.ok((await state(page)).to - (await state(page)).from < brushed.to - brushed.from);
  await page.getByRole('button', { name: 'Show all' }).click();
  assert.deepEqual([(await state(page)).from, (await state(page)).to], brushed.extent);
});

test('two fingers zoom', async () => {
  const { page, box, seen } = await opened({ width: 390, touch: true });
  const before = await state(page);
  const session = await page.context().newCDPSession(page);
  const touch = (type, ...xs) => session.send('Input.dispatchTouchEvent', { type, touchPoints: xs.map((x, id) => ({ x: box.x + x, y: box.y + 80, id })) });
  await touch('touchStart', 150);
  await touch('touchStart', 150, 200);
  for (const x of [220, 250, 280, 300]) await touch('touchMove', 150, x);
  await touch('touchEnd');
  const share = ({ from, to }) => (to - from) / (before.to - before.from);
  const closer = await once(page, (now) => Math.abs(share(now) - 1 / 3) < 0.01);
  // The fingers' distance grows from 50 to 150 pixels: a third of the time is seen.
  assert.ok(Math.abs(share(closer) - 1 / 3) < 0.01, String(share(closer)));
  assert.deepEqual(seen.errors, []);
});

test('two runs share a clock, and either can be another', async () => {
  const { report, page, seen } = await opened();
  assert.deepEqual((await state(page)).runs, ['mapreduce, 16 workers, seed 1', 'allreduce ring, 16 workers, seed 1']);
  const lists = page.locator('#gantt select');
  await lists.nth(1).selectOption('3');
  assert.deepEqual((await state(page)).extent, [0, Math.max(report.gantt.runs[0].to_s, report.gantt.runs[3].to_s)]);
  await lists.nth(1).selectOption('-1');
  assert.deepEqual((await state(page)).extent, [0, report.gantt.runs[0].to_s]);
  assert.equal(await page.locator('#gantt .lanes:visible').count(), 1);
  assert.deepEqual(seen.errors, []);
});
