// Everything that can be seen to be wrong with a page: errors, requests, empty charts, labels on labels, labels that are cut, columns of tables that run into each other, long tasks, blank sheets.
import { inflateSync } from 'node:zlib';
import { patience } from './browser.mjs';

/** Runs in the page before its scripts: writes down where text is drawn on each canvas. */
function watchText() {
  const prototype = CanvasRenderingContext2D.prototype;
  const [fill, clear] = [prototype.fillText, prototype.clearRect];
  const drawn = new WeakMap();
  prototype.clearRect = function (x, y, width, height) {
    const { a } = this.getTransform();
    if (x <= 0 && y <= 0 && (x + width) * a >= this.canvas.width - 1) drawn.set(this.canvas, []);
    return clear.call(this, x, y, width, height);
  };
  prototype.fillText = function (text, x, y, ...more) {
    const { a, b, c, d, e, f } = this.getTransform();
    const { actualBoundingBoxLeft, actualBoundingBoxRight, actualBoundingBoxAscent, actualBoundingBoxDescent } = this.measureText(text);
    const corners = [[x - actualBoundingBoxLeft, y - actualBoundingBoxAscent], [x + actualBoundingBoxRight, y + actualBoundingBoxDescent]].map(([p, q]) => [a * p + c * q + e, b * p + d * q + f]);
    if (String(text).trim() !== '' && this.globalAlpha > 0) {
      const all = drawn.get(this.canvas) ?? [];
      all.push({ text: String(text), left: Math.min(corners[0][0], corners[1][0]), right: Math.max(corners[0][0], corners[1][0]), top: Math.min(corners[0][1], corners[1][1]), bottom: Math.max(corners[0][1], corners[1][1]) });
      drawn.set(this.canvas, all);
    }
    return fill.call(this, text, x, y, ...more);
  };
  const overlap = (p, q, slack) => Math.min(p.right, q.right) - Math.max(p.left, q.left) > slack && Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) > slack;
  window.faultsOfText = () => {
    const faults = [];
    for (const canvas of document.querySelectorAll('canvas')) {
      if (canvas.clientWidth === 0) continue;
      const dots = canvas.width / canvas.clientWidth;
      const where = canvas.closest('section')?.id ?? '?';
      const texts = (drawn.get(canvas) ?? []).filter(({ right }) => right > -1000 * dots);
      for (const [i, p] of texts.entries()) {
        if (p.left < -1.5 * dots || p.right > canvas.width + 1.5 * dots || p.top < -1.5 * dots || p.bottom > canvas.height + 1.5 * dots) faults.push(`${where}: "${p.text}" is cut off`);
        for (const q of texts.slice(i + 1)) if (overlap(p, q, 1.2 * dots)) faults.push(`${where}: "${p.text}" overlaps "${q.text}"`);
      }
    }
    if (document.documentElement.scrollWidth > window.innerWidth) faults.push(`the page is ${document.documentElement.scrollWidth} pixels wide in a window of ${window.innerWidth}`);
    return faults;
  };
}

/** Runs in the page: the charts in which nothing is drawn though the page does not say so. */
function emptyCharts() {
  const faults = [];
  for (const id of window.simgrad.ids()) {
    const option = window.simgrad.option(id);
    if (!option) { faults.push(`${id}: not drawn`); continue; }
    if (id === 'gantt') { if (!option.seen.some((bars) => bars > 0)) faults.push('gantt: no bar'); continue; }
    const marks = (option.series ?? []).reduce((sum, { data, links }) => sum + (data?.length ?? 0) + (links?.length ?? 0), 0);
    const said = document.querySelector(`#${id === 'efficiency' ? 'speedup' : id} .empty:not([hidden])`);
    if (marks === 0 && !said) faults.push(`${id}: empty`);
  }
  return faults;
}

/** Runs in the page: the cells whose text leaves its column, and the heads that the rows cover when a table is scrolled. */
export async function faultsOfTables() {
  const frame = () => new Promise(requestAnimationFrame);
  const faults = [];
  const closed = [...document.querySelectorAll('details.behind:not([open])')];
  for (const each of closed) each.open = true;
  while (closed.some((each) => each.childElementCount < 2)) await new Promise((done) => setTimeout(done));
  const range = document.createRange();
  for (const scroll of document.querySelectorAll('.scroll')) {
    const where = `table of ${scroll.closest('section')?.id ?? '?'}`;
    for (const cell of scroll.querySelectorAll('th, td')) {
      const box = cell.getBoundingClientRect();
      range.selectNodeContents(cell);
      for (const { left, right, width } of range.getClientRects())
        if (width > 0 && (left < box.left - 1 || right > box.right + 1)) { faults.push(`${where}: "${cell.textContent}" leaves its column`); break; }
    }
    scroll.scrollIntoView({ block: 'center', behavior: 'instant' });
    scroll.scrollTo({ left: 60, top: 70, behavior: 'instant' });
    await frame();
    const area = scroll.getBoundingClientRect();
    for (const head of scroll.querySelectorAll('th')) {
      const { left, top, height } = head.getBoundingClientRect();
      const [x, y] = [Math.max(left, area.left) + 12, top + height / 2];
      if (x > area.right || left < area.left - 4) continue;
      const seen = document.elementFromPoint(x, y);
      if (seen?.closest('td')) faults.push(`${where}: rows cover the head "${head.textContent}"`);
    }
    scroll.scrollTo({ left: 0, top: 0, behavior: 'instant' });
  }
  for (const each of closed) each.open = false;
  scrollTo({ top: 0, behavior: 'instant' });
  return [...new Set(faults)];
}

/** Returns once the page has this width and scheme, and every observer of sizes has spoken. */
async function settled(page) {
  const { width } = page.viewportSize();
  await page.waitForFunction((px) => innerWidth === px && document.documentElement.dataset.theme === (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'), width);
  await page.evaluate(async () => {
    for (let i = 0; i < 4; ++i) await new Promise(requestAnimationFrame);
    await new Promise((done) => setTimeout(done, 20));
  });
}

async function drawAll(page) {
  for (const id of await page.evaluate(() => window.simgrad.ids())) await page.evaluate((each) => { if (each === 'gantt' || !window.simgrad.option(each)) window.simgrad.draw(each); }, id);
  await settled(page);
}

/** Tries every choice of the charts of lines, one after the other, and returns the faults of the texts that are drawn then. */
async function faultsOfChoices(page) {
  const faults = [];
  for (const input of await page.locator('#curves .controls input, #consensus .controls input').all()) {
    const said = await input.evaluate((each) => each.closest('label').textContent);
    if (!await input.isVisible() || (await input.getAttribute('type') === 'radio' && await input.isChecked())) continue;
    const change = (on) => input.evaluate((each, checked) => { each.checked = checked; each.dispatchEvent(new Event('change', { bubbles: true })); }, on);
    const radios = await input.evaluate((each) => each.type === 'radio' ? [...document.getElementsByName(each.name)].findIndex(({ checked }) => checked) : -1);
    const before = await input.isChecked();
    await change(!before);
    for (const each of await look(page)) faults.push(`with "${said}" ${before ? 'off' : 'chosen'}: ${each}`);
    if (radios < 0) await change(before);
    else await input.evaluate((each, i) => { const first = document.getElementsByName(each.name)[i]; first.checked = true; first.dispatchEvent(new Event('change', { bubbles: true })); }, radios);
  }
  await look(page);
  return faults;
}

async function look(page) {
  await page.evaluate(() => { for (const id of ['curves', 'consensus']) window.simgrad.option(id); });
  await page.evaluate(async () => { for (let i = 0; i < 2; ++i) await new Promise(requestAnimationFrame); });
  return page.evaluate(() => window.faultsOfText());
}

/** Returns the longest task of the page's main thread [ms of CPU time], and its length, from a trace. */
export function longestTask(trace) {
  const { traceEvents } = JSON.parse(trace.toString('utf8'));
  const mains = new Set(traceEvents.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain').map(({ pid, tid }) => `${pid} ${tid}`));
  const tasks = traceEvents.filter(({ ph, name, pid, tid }) => ph === 'X' && name.includes('RunTask') && mains.has(`${pid} ${tid}`));
  return tasks.reduce((most, { tdur, dur }) => Math.max(most, (tdur ?? dur) / 1000), 0);
}

/** Runs in the page: the shortest of several times [ms] that a fixed piece of work takes, of the kind that charts do. */
function workTakes() {
  let least = Infinity;
  for (let attempt = 0; attempt < 12; ++attempt) {
    const began = performance.now();
    const points = [];
    for (let i = 0; i < 40000; ++i) points.push([i, Math.sin(i) * 0.5]);
    points.sort((a, b) => a[1] - b[1]);
    const text = points.slice(0, 4000).map(([x, y]) => `${x}:${y.toFixed(3)}`).join();
    if (text.length > 0) least = Math.min(least, performance.now() - began);
  }
  return least;
}

/** The time of that work on the machine for which the limit of a task holds [ms]. A slower machine may take longer, by as much. */
const workTook = 9;

/** Returns the number of sheets of a PDF that Chromium wrote, and how many have neither text nor lines. */
export function sheets(pdf) {
  const text = pdf.toString('latin1');
  const objects = new Map([...text.matchAll(/(?:^|\n)(\d+) 0 obj\b([\s\S]*?)endobj/g)].map(([, number, body]) => [number, body]));
  const contents = (body) => {
    const start = body.indexOf('stream');
    if (start < 0) return '';
    const from = body.indexOf('\n', start) + 1;
    const raw = Buffer.from(body.slice(from, body.lastIndexOf('endstream')), 'latin1');
    try { return body.includes('/FlateDecode') ? inflateSync(raw).toString('latin1') : raw.toString('latin1'); } catch { return 'Tj'; }
  };
  const all = [...objects.values()].filter((body) => /\/Type\s*\/Page\b/.test(body));
  const blank = all.filter((body) => {
    const drawn = contents(objects.get(/\/Contents\s+(\d+) 0 R/.exec(body)?.[1]) ?? '');
    return !/\bT[jJ]\b|\bDo\b/.test(drawn);
  });
  return { sheets: all.length, blank: blank.length };
}

/** Opens a page for many inspections. */
export async function inspector(browser) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: 'light', reducedMotion: 'reduce' });
  await page.addInitScript(watchText);
  const heard = [];
  page.setDefaultTimeout(patience);
  page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) heard.push(message.text()); });
  page.on('pageerror', (error) => heard.push(error.message));
  let address = '';
  let turn = 0;
  page.on('request', (request) => { if (request.url().split('#')[0] !== address && !request.url().startsWith('data:')) heard.push(`request: ${request.url()}`); });

  /** Returns the faults of the page at this address. print: also on paper. limit: of a task [ms]. doing: is told what is looked at. */
  return async (url, { print = false, limit = 200, doing = () => {} } = {}) => {
    const faults = [];
    const note = (where, all) => { for (const fault of all) faults.push(`${where}: ${fault}`); };
    heard.length = 0;
    address = url;
    await page.setViewportSize({ width: 1280, height: 900 });
    const [wide, narrow] = ++turn % 2 ? ['light', 'dark'] : ['dark', 'light'];
    await page.emulateMedia({ colorScheme: wide });
    for (let tries = 0; ; ++tries) {
      doing('the longest task');
      await browser.startTracing(page, { categories: ['toplevel', 'disabled-by-default-devtools.timeline', 'devtools.timeline'] });
      await page.goto(url);
      await drawAll(page);
      const longest = longestTask(await browser.stopTracing());
      if (longest <= limit) break;
      const slower = Math.max(1, await page.evaluate(workTakes) / workTook);
      if (longest <= slower * limit) break;
      if (tries === 4) { faults.push(`a task takes ${longest.toFixed(0)} ms on a machine ${slower.toFixed(1)} times slower than the one of the limit`); break; }
    }
    doing('the charts, 1280 pixels wide');
    note('1280', await page.evaluate(emptyCharts));
    note('1280', await page.evaluate(() => window.faultsOfText()));
    doing('the tables, 1280 pixels wide');
    note('1280', await page.evaluate(faultsOfTables));
    doing('the choices, 1280 pixels wide');
    note('1280', await faultsOfChoices(page));
    doing('the charts, 390 pixels wide');
    await page.setViewportSize({ width: 390, height: 800 });
    await page.emulateMedia({ colorScheme: narrow });
    await settled(page);
    await drawAll(page);
    note('390', await page.evaluate(emptyCharts));
    note('390', await page.evaluate(() => window.faultsOfText()));
    doing('the tables, 390 pixels wide');
    note('390', await page.evaluate(faultsOfTables));
    doing('the choices, 390 pixels wide');
    note('390', await faultsOfChoices(page));
    if (print) {
      doing('the sheets of paper');
      await page.setViewportSize({ width: 1280, height: 900 });
      const { sheets: count, blank } = sheets(await page.pdf({ format: 'A4', printBackground: true }));
      if (blank > 0) faults.push(`on paper: ${blank} of ${count} sheets are blank`);
    }
    note('console', heard);
    return [...new Set(faults)];
  };
}
