// Bundles src/ and style.css into page.html: one file, with a slot for the data.
//   node build.mjs --modules DIR/node_modules --out FILE
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const option = (name) => resolve(process.argv[process.argv.indexOf(`--${name}`) + 1]);
const modules = option('modules');
const { build } = createRequire(join(modules, 'x.js'))('esbuild');

const common = { absWorkingDir: here, bundle: true, minify: true, write: false, nodePaths: [modules], legalComments: 'none', charset: 'ascii' };
const { outputFiles: [script] } = await build({ ...common, entryPoints: ['src/main.ts'], format: 'iife', target: 'es2020' });
const { outputFiles: [style] } = await build({ ...common, entryPoints: ['style.css'], target: 'chrome90' });

// The Apache License requires the notice to go with the code.
const notice = `/*! ${readFileSync(join(modules, 'echarts/NOTICE'), 'utf8').trim().replaceAll('*/', '* /')} */`;
const parts = { '@style@': style.text, '@script@': `${notice}\n${script.text}` };
const page = readFileSync(join(here, 'page.html'), 'utf8').replace(/@(style|script)@/g, (slot) => parts[slot]);
const slots = page.split('@simgrad-data@').length - 1;
if (slots !== 1) throw new Error(`page.html must hold @simgrad-data@ once, not ${slots} times`);
writeFileSync(option('out'), page);
