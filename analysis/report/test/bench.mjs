// How long a large report takes to open and to draw, and how smoothly 20,000 bars pan. By hand, after a build:
//   SIMGRAD_NODE_MODULES=build/analysis/report/test/node_modules SIMGRAD_PAGE=build/analysis/report/page.html node analysis/report/test/bench.mjs
// With names of pages it measures how long each takes to open and to draw, instead.
import { close, open, openFile } from './browser.mjs';
import { fixture } from './fixture.mjs';

const median = (all) => [...all].sort((a, b) => a - b)[Math.floor(all.length / 2)];

/** Opens and draws a page seven times, and prints the medians. */
async function measured(file) {
  const [shown, drawn] = [[], []];
  for (let i = 0; i < 7; ++i) {
    const began = performance.now();
    const { page } = await openFile(file, { reduced: false });
    shown.push(performance.now() - began);
    await page.evaluate(() => window.simgrad.drawAll());
    await page.evaluate(() => new Promise(requestAnimationFrame));
    drawn.push(performance.now() - began);
    await page.close();
  }
  console.log(`${file}: shown in ${median(shown).toFixed(0)} ms, all charts drawn in ${median(drawn).toFixed(0)} ms (medians of 7)`);
}

const files = process.argv.slice(2);
for (const file of files) await measured(file);
if (files.length > 0) { await close(); process.exit(); }

const opening = [];
for (let i = 0; i < 5; ++i) {
  const began = performance.now();
  const { page } = await open(fixture({ strategies: 8, evaluations: 2000, bars: 20000 }), { reduced: false });
  opening.push(performance.now() - began);
  await page.close();
}
console.log(`8 strategies x 5 sizes, 80,000 points, 20,000 bars: opened and all charts drawn in ${median(opening).toFixed(0)} ms (median of 5)`);

// All bars in one panel: one run of 20,000 in 32 lanes.
const { page } = await open(fixture({ strategies: 1, sizes: [32], bars: 20000 }), { reduced: false });
await page.locator('#gantt .lanes').first().scrollIntoViewIfNeeded();
for (const zoomed of [0, 4]) {
  await page.locator('#gantt .lanes').first().focus();
  await page.keyboard.press('Home');
  for (let i = 0; i < zoomed; ++i) await page.keyboard.press('+');
  const frames = await page.evaluate(() => new Promise((done) => {
    const canvas = document.querySelector('#gantt .lanes');
    const [times, spent] = [[], []];
    let last = performance.now();
    const observer = new PerformanceObserver((list) => spent.push(...list.getEntries().map(({ duration }) => duration)));
    try { observer.observe({ type: 'longtask' }); } catch { /* only where there are long tasks to see */ }
    const step = (now) => {
      times.push(now - last);
      last = now;
      canvas.dispatchEvent(new KeyboardEvent('keydown', { key: times.length % 40 < 20 ? 'ArrowRight' : 'ArrowLeft' }));
      if (times.length < 160) requestAnimationFrame(step); else done({ times: times.slice(5), long: spent.length });
    };
    requestAnimationFrame(step);
  }));
  const { seen } = await page.evaluate(() => window.simgrad.option('gantt'));
  console.log(`panning, ${seen[0]} bars in the window: ${median(frames.times).toFixed(1)} ms a frame (median), ${Math.max(...frames.times).toFixed(1)} ms the longest, ${frames.long} tasks over 50 ms`);
}
await close();
