// Parts that need no browser: numbers as text, CSV, lanes, the window of time, the network's layout, labels.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { here, sources } from './modules.mjs';

globalThis.window ??= { matchMedia: () => ({ matches: false }) };  // read when the theme's file is loaded
const { activityColours, cell, chinese, cutNames, linearTicks, logRange, logTicks, placeAtEnd, placeBeside, points, strangeRange, strategyColours, twoLineNames, bytes, csv, firstAfter, barAt, layout, meshLayout, number, percent, seconds, shortNames, shortNumeral, slices, ticks, tracks, twoLines, View, whole, dollars, onAxis } =
  await sources('format', 'csv', 'gantt/tracks', 'gantt/view', 'charts/layout', 'charts/mesh_layout', 'charts/beside', 'charts/lines', 'chinese', 'palette', 'ticks', 'names');

const plain = (text) => text.replaceAll('\u202f', ' ').replaceAll('\u2212', '-');

test('numbers have three digits and no exponent where it can be done', () => {
  const said = [0, 1, 0.0213456, 1240, 123456, 1e-9, -3.14159, 2.5e20, null, NaN].map((x) => plain(number(x)));
  assert.deepEqual(said, ['0', '1', '0.0213', '1240', '123,456', '1e-9', '-3.14', '2.5e20', '–', '–']);
});

test('no number has more than twelve digits', () => {
  assert.deepEqual([123456789012345, 5e14, 123456, 1.25e-7].map((x) => plain(cell(x))), ['1.2346e14', '5e14', '123,456', '1.25e-7']);
  assert.deepEqual([1.5e13, 999e9].map((x) => plain(whole(x))), ['1.50e13', '999,000,000,000']);
  assert.deepEqual(['123456789012345', '0.00000000012', '1e-05', '16', '100Mbps'].map((text) => plain(shortNumeral(text))), ['1.23457e14', '1.2e-10', '1e-05', '16', '100Mbps']);
});

test('seconds, bytes and shares have the unit that suits them', () => {
  assert.deepEqual([0, 12.3e-6, 4.56, 0.5, 900, 7200, 86400 * 3].map((x) => plain(seconds(x))), ['0 s', '12.3 µs', '4.56 s', '500 ms', '15 min 0 s', '2 h 0 min', '3 d 0 h']);
  assert.deepEqual([808, 1.5e9].map((x) => plain(bytes(x))), ['808 B', '1.50 GB']);
  assert.deepEqual([0.97, 0.004, 1, 1e-6, 5.04e-6, 1.3e-9, 0].map((x) => plain(percent(x))), ['97 %', '0.4 %', '100 %', '0.0001 %', '0.0005 %', '0.00000013 %', '0 %']);
  assert.equal(whole(12345), '12,345');
});

test('the ticks of an axis have no zeros at their ends, and times are round in their unit', () => {
  assert.deepEqual([0, 0.5, 200, 900, 7200, 86400 * 3].map((x) => plain(onAxis(seconds)(x))), ['0 s', '500 ms', '200 s', '15 min', '2 h', '3 d']);
  assert.deepEqual([0, 0.5, 100, 12000, 1e-6].map((x) => plain(onAxis(dollars)(x))), ['$0', '$0.5', '$100', '$12,000', '$0.000001']);
  assert.deepEqual([2e6, 2.5e6].map((x) => plain(onAxis(bytes)(x))), ['2 MB', '2.5 MB']);
  assert.equal(onAxis(() => 'v1.0')(3), 'v1.0');  // a text is not a number
  assert.deepEqual([seconds(200.1234, 6), seconds(0.0123456, 5)].map(plain), ['200.123 s', '12.346 ms']);
});

test('CSV keeps all digits, quotes what must be quoted, and holds no formula', () => {
  const columns = [{ name: 'label', unit: '' }, { name: 'time', unit: 's' }];
  const text = csv({ columns, rows: [['a, "b"', 0.1234567890123], ['=1+1', null], ['two\nlines', -1]] });
  assert.equal(text, 'label,time [s]\r\n"a, ""b""",0.1234567890123\r\n\'=1+1,\r\n"two\nlines",-1\r\n');
});

/** Two lanes; in lane 0 bars [0, 1], [1, 3], [5, 6], given in disorder; in lane 1 [2, 4]. */
const run = { lanes: ['a', 'b'], lane: [0, 1, 0, 0], kind: [0, 1, 2, 0], names: ['read', 'push'], name: [0, 0, 0, 0], peer: [null, null, null, null], from: [5, 2, 1, 0], to: [6, 4, 3, 1] };

test('a lane finds its bars by time', () => {
  const all = tracks(run);
  assert.deepEqual([...all.lanes[0]], [3, 2, 0]);
  assert.deepEqual([-1, 0.5, 1, 2.9, 3, 6].map((t) => firstAfter(all, 0, t)), [0, 0, 1, 1, 2, 3]);
  assert.deepEqual([0.5, 2, 4, 5.5, 7].map((t) => barAt(all, 0, t, 0)), [3, 2, -1, 0, -1]);
  assert.equal(barAt(all, 0, 4.95, 0.1), 0);
});

test('reading is a storage, a message of that name is not, and neither is waiting for it', () => {
  assert.deepEqual(tracks(run).stores, [false, true, false, false]);
  assert.deepEqual(tracks({ ...run, peer: [null, 3, null, null] }).stores, [false, false, false, false]);
  assert.deepEqual(tracks({ ...run, name: [1, 1, 1, 1] }).stores, [false, false, false, false]);
});

test('slices of time add up to the bars', () => {
  const parts = slices(tracks(run), 0, 6, 4);
  assert.deepEqual(parts.map((each) => each.reduce((a, b) => a + b, 0)), [2, 2, 2, 0]);
  assert.deepEqual([...parts[1]], [0, 1, 1, 0]);
});

test('the window stays within what there is, and zooms around a point', () => {
  const view = new View();
  view.extent(0, 10);
  view.zoom(0.5, 2);
  assert.deepEqual([view.from, view.to], [1, 6]);
  view.pan(100);
  assert.deepEqual([view.from, view.to], [5, 10]);
  view.zoom(100);
  assert.deepEqual([view.from, view.to], [0, 10]);
  view.extent(0, 20);
  assert.deepEqual([view.from, view.to], [0, 20]);
  assert.deepEqual(ticks(0, 10, 5), [0, 2, 4, 6, 8, 10]);
});

test('a star has its switch in the middle, a ring keeps its order, and nothing lies on anything', () => {
  const star = layout(Array.from({ length: 8 }, (_, i) => ({ from: `h${i}`, to: 's' })));
  assert.ok(Math.hypot(star.get('s').x, star.get('s').y) < 1e-9);
  const ring = layout([0, 1, 2, 3].map((i) => ({ from: `h${i}`, to: `h${(i + 1) % 4}` })));
  const apart = (a, b) => Math.hypot(ring.get(a).x - ring.get(b).x, ring.get(a).y - ring.get(b).y);
  assert.ok(Math.abs(apart('h0', 'h1') - Math.SQRT2) < 1e-9 && Math.abs(apart('h0', 'h2') - 2) < 1e-9);
  const tree = layout([...[0, 1, 2, 3].map((i) => ({ from: `h${i}`, to: `e${i >> 1}` })), ...[0, 1].flatMap((e) => [0, 1].map((c) => ({ from: `e${e}`, to: `c${c}` })))]);
  const places = [...tree.values()];
  for (const [i, p] of places.entries()) for (const q of places.slice(i + 1)) assert.ok(Math.hypot(p.x - q.x, p.y - q.y) > 0.1);
});

test('ranks of a mesh lie in their boxes and on no other rank, in as few rows as there is room for', () => {
  const ranks = [...Array(64).keys()].map((rank) => ({ rank, stage: 0, places: [rank % 8, Math.floor(rank / 8), 0], boxes: [Math.floor(rank / 8), Math.floor(rank / 32)] }));
  const picture = { ranks_in_all: 64, dimensions: ['tensor', 'data', 'pipeline'].map((name) => ({ name, size: 8, drawn: true })), levels: [{ link_class: 'nvlink', boxes: 8 }, { link_class: 'nic', boxes: 2 }], ranks };
  const inside = (a, b) => a.x >= b.x && a.y >= b.y && a.x + a.width <= b.x + b.width && a.y + a.height <= b.y + b.height;
  const apart = (a, b) => a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
  for (const room of [250, 340, 760]) {
    const { width, height, boxes, cells } = meshLayout(picture, room);
    assert.ok(width <= room, `${width} of ${room}`);
    assert.equal(boxes.length, 10);
    const drawn = cells.map(({ rank, x, y }) => ({ rank, x, y, width: 48, height: 34 }));
    assert.equal(new Set(drawn.map(({ rank }) => rank.rank)).size, 64);
    for (const box of boxes) for (const each of drawn) assert.ok(box.ranks.includes(each.rank) ? inside(each, box) : apart(each, box));
    drawn.forEach((a, i) => drawn.slice(i + 1).forEach((b) => assert.ok(apart(a, b))));
    assert.ok(drawn.every((each) => inside(each, { x: 0, y: 0, width, height })));
  }
  // 760 pixels have room for one box of 8 ranks side by side, and for four of 3.
  assert.equal(new Set(meshLayout(picture, 760).boxes.filter(({ level }) => level === 0).map(({ y }) => y)).size, 2);
});

test('labels are cut to what tells them apart', () => {
  const server = (options) => `parameter_server(${options})`;
  assert.deepEqual(shortNames([server('consistency=ssp, staleness=1'), server('consistency=ssp, staleness=4')]), ['staleness=1', 'staleness=4']);
  assert.deepEqual(shortNames([server('consistency=ssp, staleness=1'), server('consistency=ssp, staleness=4'), 'ring']),
    ['parameter_server(staleness=1)', 'parameter_server(staleness=4)', 'ring']);
  assert.deepEqual(shortNames(['ring', 'a label that somebody wrote by hand']), ['ring', 'a label that somebody wrote by hand']);
  assert.deepEqual(shortNames([server('consistency=ssp, staleness=1'), server('consistency=ssp, staleness=1')])[0], server('consistency=ssp, staleness=1'));
  assert.deepEqual(shortNames(['allreduce(compression=(a, b), buckets=4)', 'ring']), ['allreduce(compression=(a, b), buckets=4)', 'ring']);
});

test('long names have two lines', () => {
  assert.deepEqual(['ring', 'ring, oversubscription=16', 'parameter_server(consistency=ssp, staleness=1)', 'a'.repeat(40)].map((name) => twoLines(name)),
    ['ring', 'ring,\noversubscription=16', 'parameter_server\n…=ssp, staleness=1)', `${'a'.repeat(19)}\n…${'a'.repeat(18)}`]);
});

test('different names stay different when they are cut', () => {
  const names = [1, 2].flatMap((i) => [`parameter_server(staleness=${i}), at 100Mbps`, `parameter_server(staleness=${i}), at 1Gbps`]);
  for (const most of [8, 12, 20, 30, 60])
    for (const cut of [cutNames(names, (text) => text.length, most), twoLineNames(names, most)]) {
      assert.equal(new Set(cut).size, 4, cut.join());
      assert.ok(cut.every((name) => name.split('\n').every((line) => line.length <= most)), cut.join());
    }
  assert.deepEqual(cutNames(['short'], (text) => text.length, 5), ['short']);
});

test('a label beside a point is within the chart and on no other label', () => {
  const [size, frame] = [{ width: 50, height: 12 }, { width: 200, height: 100 }];
  const at = (x, y) => ({ x, y, width: 10, height: 10 });
  // Right of the point with a gap of 7; left of it at the right edge; nowhere if all places are taken.
  assert.deepEqual(placeBeside(at(20, 40), size, frame, []), { x: 37, y: 39, ...size });
  assert.deepEqual(placeBeside(at(180, 40), size, frame, []), { x: 123, y: 39, ...size });
  assert.equal(placeBeside(at(20, 40), size, frame, [{ x: 37, y: 39, ...size }]).y, 25);
  assert.equal(placeBeside(at(20, 40), size, frame, [{ x: 0, y: 0, ...frame }]), null);
});

test('names at the ends of lines give way to each other by half a line, and none leaves the chart', () => {
  const [size, frame, end] = [{ width: 50, height: 12 }, { width: 200, height: 100 }, { x: 100, y: 50, width: 0, height: 0 }];
  const taken = [];
  for (let i = 0; i < 4; ++i) taken.push(placeAtEnd(end, size, frame, taken));
  assert.deepEqual(taken.map(({ y }) => y), [43, 29, 57, 71]);  // 14 pixels a name
  assert.equal(placeAtEnd({ ...end, y: 96 }, size, frame, []).y, 82);
});

test('ticks are few and round, whatever the range', () => {
  assert.deepEqual(logTicks(0.9, 11000), [1, 10, 100, 1000, 10000]);
  assert.deepEqual(logTicks(1, 10), [1, 1.5, 2, 3, 5, 7, 10]);
  for (const [least, most] of [[1e-305, 1e305], [1e-300, 1e-299], [1, 1.0001], [5e307, 1e308], [1e303, Infinity], [0, 1], [-1, 1], [NaN, 1], [2, 1], [1, 1]]) {
    const ticks = logTicks(least, most);
    assert.ok(ticks.length <= 24 && ticks.every((tick) => Number.isFinite(tick) && tick > 0), `${least} ${most}: ${ticks}`);
    if (least > 0 && most > least && most < Infinity) assert.ok(ticks.length > 1, `${least} ${most}: ${ticks}`);
  }
  assert.deepEqual(linearTicks(0, 1e-300, 4), [0, 5e-301, 1e-300]);
  assert.deepEqual(linearTicks(0, 1.2, 6), [0, 0.2, 0.4, 0.6, 0.8, 1, 1.2]);
  for (const values of [[1e308, 1e308], [1e-300], [0, 0], [-1e300, 1e300], [3, 3 + 1e-15]]) {
    const range = strangeRange(values, 5, false);
    if (range) assert.ok(range.max > range.min && Number.isFinite(range.max) && range.ticks.length <= 14);
  }
  assert.equal(strangeRange([0, 1], 5, false), null);
  assert.deepEqual([logRange([]), logRange([0, -1]), logRange([NaN, Infinity])], [null, null, null]);
});

test('a line is drawn up to divergence, and without numbers that no axis can show', () => {
  const line = (y, more = {}) => ({ strategy: 0, text: '', x: y.map((_, i) => i), y, ...more });
  assert.deepEqual(points(line([1, 2, null, NaN, Infinity, 1e308, -1, 0, 3]), false, false), [[0, 1], [1, 2], [6, -1], [7, 0], [8, 3]]);
  assert.deepEqual(points(line([1, 2, null, NaN, Infinity, 1e308, -1, 0, 1e-300]), false, true), [[0, 1], [1, 2], [8, 1e-300]]);
  assert.deepEqual(points(line([1, 2, 3], { points: 2 }), true, false), [[1, 2]]);
});

test('24 strategies have 24 colours, and none of them is an activity\u2019s', () => {
  const rgb = (text) => [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16));
  // "Redmean", a weighted distance in sRGB: T. Riemersma, Colour metric.
  const far = (a, b) => {
    const [[r, g, c], [s, h, d]] = [rgb(a), rgb(b)];
    const mean = (r + s) / 2;
    return Math.sqrt((2 + mean / 256) * (r - s) ** 2 + 4 * (g - h) ** 2 + (2 + (255 - mean) / 256) * (c - d) ** 2);
  };
  for (const onDark of [false, true]) {
    const all = strategyColours(onDark);
    assert.equal(new Set(all).size, 24);
    for (const [i, a] of all.entries()) for (const b of all.slice(i + 1)) assert.ok(far(a, b) > 20, `${a} ${b}`);
    for (const a of all.slice(0, 8)) for (const b of activityColours(onDark)) assert.ok(far(a, b) > 75, `${a} ${b}: ${far(a, b)}`);
  }
});

test('every text of the page has a Chinese one, with its values', () => {
  const folder = join(here, '../src');
  const files = readdirSync(folder, { recursive: true }).map(String).filter((file) => file.endsWith('.ts'));
  const texts = new Set(files.flatMap((file) => [...readFileSync(join(folder, file), 'utf8').matchAll(/\bt\('((?:[^'\\]|\\.)*)'/g)].map(([, text]) => text)));
  assert.ok(texts.size > 100);
  for (const text of [...texts, 'compute', 'communicate', 'wait', 'down']) {
    assert.ok(chinese[text], `"${text}" has no Chinese text`);
    const values = (of) => [...of.matchAll(/\{\d\}/g)].map(([value]) => value).sort();
    assert.deepEqual(values(chinese[text]), values(text), text);
  }
});
