// The packages of the tests, from the directory in which CMake installed them: nothing is installed in the source tree.
import { createRequire } from 'node:module';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const here = dirname(fileURLToPath(import.meta.url));
export const modules = resolve(process.env.SIMGRAD_NODE_MODULES);
export const load = createRequire(join(modules, 'x.js'));

/** A directory that goes when the process does. */
export function scratch() {
  const path = mkdtempSync(join(tmpdir(), 'simgrad-'));
  process.on('exit', () => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** The exports of these files of src/, bundled for Node. */
export async function sources(...files) {
  const out = join(scratch(), 'parts.mjs');
  await load('esbuild').build({
    stdin: { contents: files.map((file) => `export * from './${file}';`).join('\n'), resolveDir: join(here, '../src'), loader: 'ts' },
    bundle: true, format: 'esm', platform: 'node', outfile: out, nodePaths: [modules], logLevel: 'error',
  });
  return import(pathToFileURL(out));
}
