// Parts that need no browser: numbers as text, CSV, lanes, the window of time, the network's layout, labels.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { sources } from './modules.mjs';

const { bytes, csv, firstAfter, barAt, layout, number, nudges, parted, percent, seconds, shortNames, slices, ticks, tracks, twoLines, View, whole } =
  await sources('format', 'csv', 'gantt/tracks', 'gantt/view', 'charts/layout', 'charts/nudge', 'names');

const plain = (text) => text.replaceAll('\u202f', ' ').replaceAll('\u2212', '-');

test('numbers have three digits and no exponent where it can be done', () => {
  const said = [0, 1, 0.0213456, 1240, 123456, 1e-9, -3.14159, 2.5e20, null, NaN].map((x) => plain(number(x)));
  assert.deepEqual(said, ['0', '1', '0.0213', '1,240', '123,000', '1e-9', '-3.14', '2.5e20', '–', '–']);
});

test('seconds, bytes and shares have the unit that suits them', () => {
  assert.deepEqual([0, 12.3e-6, 4.56, 0.5, 900, 7200, 86400 * 3].map((x) => plain(seconds(x))), ['0 s', '12.3 µs', '4.56 s', '500 ms', '15 min', '2 h', '3 d']);
  assert.deepEqual([808, 1.5e9].map((x) => plain(bytes(x))), ['808 B', '1.5 GB']);
  assert.deepEqual([0.97, 0.004, 1, 1e-6, 5.04e-6, 1.3e-9, 0].map((x) => plain(percent(x))), ['97 %', '0.4 %', '100 %', '0.0001 %', '0.0005 %', '0.00000013 %', '0 %']);
  assert.equal(whole(12345), '12,345');
});

test('CSV keeps all digits, quotes what must be quoted, and holds no formula', () => {
  const columns = [{ name: 'label', unit: '' }, { name: 'time', unit: 's' }];
  const text = csv({ columns, rows: [['a, "b"', 0.1234567890123], ['=1+1', null], ['two\nlines', -1]] });
  assert.equal(text, 'label,time [s]\r\n"a, ""b""",0.1234567890123\r\n\'=1+1,\r\n"two\nlines",-1\r\n');
});

/** Two lanes; in lane 0 bars [0, 1], [1, 3], [5, 6], given in disorder; in lane 1 [2, 4]. */
const run = { lanes: ['a', 'b'], lane: [0, 1, 0, 0], kind: [0, 1, 2, 0], from: [5, 2, 1, 0], to: [6, 4, 3, 1] };

test('a lane finds its bars by time', () => {
  const all = tracks(run);
  assert.deepEqual([...all.lanes[0]], [3, 2, 0]);
  assert.deepEqual([-1, 0.5, 1, 2.9, 3, 6].map((t) => firstAfter(all, 0, t)), [0, 0, 1, 1, 2, 3]);
  assert.deepEqual([0.5, 2, 4, 5.5, 7].map((t) => barAt(all, 0, t, 0)), [3, 2, -1, 0, -1]);
  assert.equal(barAt(all, 0, 4.95, 0.1), 0);
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
    ['ring', 'ring,\noversubscription=16', 'parameter_server\n(consistency=ssp, …', `${'a'.repeat(19)}\n${'a'.repeat(18)}…`]);
});

test('labels in one column are moved apart, others stay', () => {
  const moved = nudges([{ x: 0, y: 10, width: 50 }, { x: 10, y: 12, width: 50 }, { x: 200, y: 11, width: 50 }], 14);
  assert.ok(Math.abs(12 + moved[1] - (10 + moved[0]) - 14) < 0.1);
  assert.equal(moved[2], 0);
  const above = nudges([{ x: 0, y: 95, width: 50 }, { x: 0, y: 95, width: 50 }], 14, 100);
  assert.deepEqual([95 + above[0], 95 + above[1]].map(Math.round), [86, 100]);
  const crowd = (count) => Array.from({ length: count }, () => ({ x: 0, y: 50, width: 50 }));
  assert.deepEqual([4, 20].map((count) => parted(crowd(count), nudges(crowd(count), 14), 12)), [true, false]);
});
