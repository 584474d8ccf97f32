// A real browser without a network, and pages in it whose every error and request is written down.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { filled } from './fixture.mjs';
import { load, scratch } from './modules.mjs';

const places = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const executablePath = places.find((place) => place && existsSync(place));
if (!executablePath) {
  console.log('SKIPPED: no Chromium here (script/test installs it; CHROMIUM names another)');
  process.exit(77);
}

export const template = readFileSync(process.env.SIMGRAD_PAGE, 'utf8');

/** A limit for what a busy machine may take [ms]: long, for it is there only to end a test that hangs. */
export const patience = 240_000;

export const launch = () => load('playwright-core').chromium.launch({
  executablePath, timeout: patience,
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
export const browser = await launch();
export const close = () => browser.close();

const directory = scratch();
let count = 0;

/** Opens a file in a page of this width; errors, and requests beside the file itself, are collected. */
export async function openFile(path, { width = 1280, scheme = 'light', touch = false, reduced = true } = {}) {
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: scheme, hasTouch: touch, isMobile: touch, acceptDownloads: true, reducedMotion: reduced ? 'reduce' : 'no-preference' });
  page.setDefaultTimeout(patience);
  const seen = { errors: [], requests: [] };
  page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) seen.errors.push(message.text()); });
  page.on('pageerror', (error) => seen.errors.push(error.message));
  page.on('dialog', (dialog) => { seen.errors.push(`dialog ${dialog.message()}`); void dialog.dismiss(); });
  const address = pathToFileURL(path).href;
  page.on('request', (request) => { if (request.url().split('#')[0] !== address && !request.url().startsWith('data:')) seen.requests.push(request.url()); });
  await page.goto(address);
  return { page, seen };
}

/** Opens the page with this report in it, everything drawn. */
export async function open(report, settings = {}) {
  const path = join(directory, `${++count}.html`);
  writeFileSync(path, filled(template, report));
  const opened = await openFile(path, settings);
  await opened.page.evaluate(() => window.simgrad.drawAll());
  return opened;
}

/** Returns after as many frames. ECharts paints in a frame, and an observer of sizes may ask it for another. */
export const frames = (page, count = 2) => page.evaluate(async (most) => {
  for (let i = 0; i < most; ++i) await new Promise(requestAnimationFrame);
}, count);

/** Reads until holds() says yes, and returns what was read; at the limit, what was read last, for the assertion to show. */
export async function eventually(read, holds, limit = patience / 4) {
  for (const began = performance.now(); ;) {
    const value = await read();
    if (holds(value) || performance.now() - began > limit) return value;
    await new Promise((done) => setTimeout(done, 50));
  }
}

export const option = (page, id) => page.evaluate((name) => JSON.parse(JSON.stringify(window.simgrad.option(name))), id);
