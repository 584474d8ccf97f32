// The Chinese data of random experiments: no English word beside labels, keys, names, units and recorded texts.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scratch, sources } from './modules.mjs';
import { writeExperiment } from './random_results.mjs';

const { chinese } = await sources('chinese');
const directory = scratch();
const bare = join(directory, 'data.html');
writeFileSync(bare, '@simgrad-data@');

function data(number) {
  const results = join(directory, String(number));
  writeExperiment(results, number);
  const page = join(results, 'data.json');
  const { status, stderr } = spawnSync(process.env.SIMGRAD_PROGRAM, ['report', results, '--language', 'zh', '--template', bare, '--out', page], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return JSON.parse(readFileSync(page, 'utf8'));
}

/** The texts that the page shows as they are. */
function texts(report) {
  const { headline, winners, bottleneck, notes } = report.summary;
  const charts = Object.values(report).filter((each) => each?.sentence !== undefined);
  return [headline, ...winners.flatMap(({ label, point, text }) => [label, point, text]), bottleneck?.text, ...notes, ...charts.map(({ sentence }) => sentence),
    ...(report.collectives?.rows ?? []).map(({ explanation }) => explanation), ...(report.points_table?.rows ?? []).flatMap(({ status, binds }) => [status, binds]),
    ...(report.pairs?.rows ?? []).map(({ sentence }) => sentence),
    ...(report.time?.detail ?? []).map(({ name }) => name), ...(report.memory?.parts ?? []).map(({ name }) => name), ...(report.memory?.rows ?? []).flatMap(({ ranks }) => ranks.map(({ name }) => name)), ...report.points.map(({ text }) => text),
    ...(report.links?.rows ?? []).flatMap(({ links }) => links.map(({ text }) => text)), ...(report.gantt?.runs ?? []).flatMap(({ lanes }) => lanes)].filter(Boolean);
}

/** The names that an experiment brings, the longest first. */
function names(report) {
  const links = (report.links?.rows ?? []).flatMap((row) => row.links.flatMap(({ name }) => [name, name.replace(/_(UP|DOWN)$/, '')]));
  const keys = report.points.flatMap(({ parameters }) => Object.entries(parameters).flatMap(([key, value]) => [key, key.split('.').pop(), String(value)]));
  const all = new Set([...report.strategies.map(({ label }) => label), ...links, ...keys, ...(report.collectives?.rows ?? []).map(({ name }) => name)]);
  return [...all].filter(Boolean).sort((a, b) => b.length - a.length);
}

const known = new Set(['rank', 'host', 'ideal', 'min']);

test('Chinese data have no English words, and no space beside a full-width sign', () => {
  for (let number = 1; number <= 15; ++number) {
    const report = data(number);
    assert.equal(report.language, 'zh');
    const own = names(report);
    for (const text of texts(report)) {
      let rest = text;
      for (const name of own) rest = rest.replaceAll(name, '_');
      for (const word of ['rank 3 was lost', 'training.learning_rate', 'model.timed_as', 'least_squares', 'resnet50']) rest = rest.replaceAll(word, '_');
      const words = (rest.match(/[A-Za-z]{3,}/g) ?? []).filter((word) => !known.has(word));
      assert.deepEqual(words, [], `experiment ${number}: ${text}`);
      assert.doesNotMatch(rest, / [，。：；、（）]|[，。：；、（）] |\{\d?\}/, `experiment ${number}: ${text}`);
    }
  }
});

test('each column of a table has a Chinese name, but for keys', () => {
  for (let number = 1; number <= 15; ++number) {
    const report = data(number);
    for (const chart of Object.values(report).filter((each) => each?.table !== undefined))
      for (const { name } of chart.table.columns)
        assert.ok(chinese[name] !== undefined || chart.keys?.includes(name) || name === `final ${report.metric_name}`, `${name} has no Chinese name`);
  }
});
