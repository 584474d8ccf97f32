// The page's types fit together (tsc, nothing is written).
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { here, load, modules, scratch } from './modules.mjs';

test('tsc has nothing to say', () => {
  const source = resolve(here, '..');
  const settings = { extends: join(source, 'tsconfig.json'), include: [join(source, 'src')], compilerOptions: { paths: { '*': [join(modules, '*')] } } };
  const file = join(scratch(), 'tsconfig.json');
  writeFileSync(file, JSON.stringify(settings));
  const { stdout, status } = spawnSync(process.execPath, [load.resolve('typescript/lib/tsc.js'), '-p', file], { encoding: 'utf8' });
  assert.equal(stdout, '');
  assert.equal(status, 0);
});
