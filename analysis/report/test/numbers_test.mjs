// The page writes numbers as the program does: the texts of drawn numbers, which outputs_test writes, in the page's print.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { scratch, sources } from './modules.mjs';

const file = join(scratch(), 'numbers.json');
execFileSync(process.argv[2], ['the texts of drawn numbers are written for the page'], { env: { ...process.env, SIMGRAD_NUMBERS_FILE: file }, stdio: 'ignore' });
const { texts, columns, margins } = JSON.parse(readFileSync(file, 'utf8'));
const { bytes, columnUnit, dollars, joules, marginText, number, percent, seconds } = await sources('format');

const plain = (text) => text.replaceAll('\u202f', ' ').replaceAll('\u2212', '-').replace(/^–$/, '-');

test('each number has the text of the terminal', () => {
  for (const [name, format] of Object.entries({ digits: number, percentage: percent, duration: seconds, bytes, dollars, joules })) {
    assert.ok(texts[name].length > 500);
    for (const [x, text] of texts[name]) assert.equal(plain(format(x)), text, `${name} of ${x}`);
  }
});

test('each column has the unit of the terminal', () => {
  assert.ok(columns.length > 300);
  for (const { quantity, values, texts: expected } of columns) {
    const text = columnUnit(quantity, values);
    assert.deepEqual(values.map((x) => plain(text(x))), expected, `${values}`);
  }
});

test('a cell of more digits has the unit of its column, too', () => {
  const text = columnUnit('time', [0.0313, 1.2]);
  assert.deepEqual([[0.0313456, 6], [1.23456789, 6], [200, 3]].map(([x, digits]) => plain(text(x, digits))), ['31.3456 ms', '1234.57 ms', '200,000 ms']);
  assert.equal(plain(columnUnit('time', [7500, 8000])(7530, 5)), '2.0917 h');
});

test('each margin has the digits of the terminal, and is left out where it is left out there', () => {
  const formats = { duration: seconds, dollars };
  for (const { text, mean, margin, texts: expected } of margins)
    assert.equal(plain(formats[text](mean) + marginText(mean, margin, formats[text])), expected, `${mean} ± ${margin}`);
  assert.ok(margins.some(({ texts: expected }) => !expected.includes('±')) && margins.some(({ texts: expected }) => expected.includes('±')));
});
