/**
 * Prints the JavaScript that a page's first load needs, gzip, from the manifests of the last `next build`.
 * `node apps/dashboard/scripts/first-load.mjs [route=/tasks] [--max=200]`: above the maximum (in kB) it fails.
 * Polyfills are `nomodule`: no browser that the board supports loads them, and they are not counted.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';

const next = fileURLToPath(new URL('../.next/', import.meta.url));
const given = process.argv.slice(2);
const route = given.find((each) => each.startsWith('/')) ?? '/tasks';
const max = Number(given.find((each) => each.startsWith('--max='))?.slice(6) ?? Number.POSITIVE_INFINITY);
const page = `${next}server/app${route === '/' ? '' : route}/page`;

const { rootMainFiles } = JSON.parse(readFileSync(`${next}build-manifest.json`, 'utf8'));
const sandbox = {};
sandbox.globalThis = sandbox;
runInNewContext(readFileSync(`${page}_client-reference-manifest.js`, 'utf8'), sandbox);
const [manifest] = Object.values(sandbox.__RSC_MANIFEST);
const entries = Object.entries(manifest.entryJSFiles).filter(
  ([entry]) => entry.endsWith('/src/app/layout') || entry.endsWith(`/src/app${route === '/' ? '' : route}/page`),
);
const files = [...new Set([...rootMainFiles, ...entries.flatMap(([, list]) => list)])];
const sizes = files.map((file) => [file, gzipSync(readFileSync(next + file)).length]).sort((a, b) => b[1] - a[1]);
const total = sizes.reduce((sum, [, bytes]) => sum + bytes, 0);

for (const [file, bytes] of sizes) console.log(`${(bytes / 1000).toFixed(1).padStart(7)} kB  ${file}`);
console.log(`${(total / 1000).toFixed(1).padStart(7)} kB  first-load JS of ${route}, gzip, ${files.length} files`);
if (total > max * 1000) {
  console.error(`more than the ${max} kB that are allowed`);
  process.exitCode = 1;
}
