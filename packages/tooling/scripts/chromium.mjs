/** Finds a Chromium for the end-to-end tests, or gets one from the machine's own Debian mirrors; and a font that has Korean. */
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { capture, Failure, isProgram, main, ownDirectory, progress } from './lib.mjs';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const PACKAGES = ['chromium', 'fonts-noto-cjk'];
const cache = path.join(ownDirectory, 'chromium');
const cachedLauncher = path.join(cache, 'chromium');

/** Gives the path of a Chromium that starts. */
export async function ensureChromium() {
  const given = process.env.CHROMIUM_PATH ?? '';
  if (given !== '') {
    const trouble = await tryOut(given);
    if (trouble === undefined) return given;
    throw new Failure(`CHROMIUM_PATH is ${given}, which does not start: ${trouble}`);
  }
  const attempts = [];
  for (const file of [...onPath(), cachedLauncher].filter((candidate) => existsSync(candidate))) {
    const trouble = await tryOut(file);
    if (trouble === undefined) {
      if (file !== cachedLauncher) await ensureKoreanFont();
      return file;
    }
    attempts.push(`${file}: ${trouble}`);
  }
  const ways = [
    { way: 'apt-get install', get: installAsRoot },
    { way: 'unpacking Debian packages', get: unpackPrivately },
  ];
  for (const { way, get } of ways) {
    const result = await get().catch((error) => ({ trouble: error.message }));
    if (result.file !== undefined) return result.file;
    attempts.push(`${way}: ${result.trouble}`);
  }
  throw new Failure(
    [
      'Could not find or get Chromium, which the end-to-end tests need. Tried:',
      '  - CHROMIUM_PATH: not set',
      `  - PATH: ${NAMES.join(', ')}`,
      ...attempts.map((attempt) => `  - ${attempt}`),
      'What to do: install Chromium or Chrome, or set CHROMIUM_PATH to one. Without it: npm test -- --only format,lint,types,law,dead,build,unit',
    ].join('\n'),
  );
}

function onPath() {
  const directories = (process.env.PATH ?? '').split(path.delimiter).filter((directory) => directory !== '');
  return NAMES.flatMap((name) => directories.map((directory) => path.join(directory, name)));
}

/** Undefined when it renders a page; else what it said. A `--version` would not notice a missing library of the renderer. */
async function tryOut(file) {
  const profile = path.join(cache, `try-${process.pid}`);
  mkdirSync(profile, { recursive: true });
  const args = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', `--user-data-dir=${profile}`];
  const page = 'data:text/html,<p>leasehold</p>';
  const { code, output } = await capture(file, [...args, '--dump-dom', page], { timeoutMs: 60_000 });
  rmSync(profile, { recursive: true, force: true, maxRetries: 3 });
  if (code === 0 && output.includes('leasehold</p>')) return undefined;
  return lastLine(output) || `exited with ${code}`;
}

async function installAsRoot() {
  if (process.getuid?.() !== 0) return { trouble: 'needs root' };
  progress('installing chromium with apt-get');
  const trouble = await aptInstall(PACKAGES);
  if (trouble !== undefined) return { trouble };
  const file = onPath().find((candidate) => existsSync(candidate));
  if (file === undefined) return { trouble: 'installed, but there is none on PATH' };
  const fault = await tryOut(file);
  return fault === undefined ? { file } : { trouble: `installed ${file}, but: ${fault}` };
}

async function aptInstall(packages) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
  const updated = await capture('apt-get', ['update', '-q'], { env, timeoutMs: 180_000 });
  const args = ['install', '-y', '-q', '--no-install-recommends', ...packages];
  const installed = await capture('apt-get', args, { env, timeoutMs: 900_000 });
  if (installed.code === 0) return undefined;
  return `${lastLine(installed.output)}${updated.code === 0 ? '' : ` (apt-get update: ${lastLine(updated.output)})`}`;
}

/** The screenshots show Korean; without such a font they show boxes. A missing font is no reason to fail, only to say so. */
async function ensureKoreanFont() {
  const listed = await capture('fc-list', [':lang=ko'], { timeoutMs: 30_000 });
  if (listed.code === 0 && listed.output.trim() !== '') return;
  if (process.getuid?.() === 0) {
    progress('installing a font with Korean');
    if ((await aptInstall(['fonts-noto-cjk'])) === undefined) return;
  }
  progress('no font with Korean is installed: Korean text will show as boxes (package fonts-noto-cjk)');
}

/**
 * Without root: apt resolves against the machine's installed packages and downloads what is missing into a directory of ours, and a launcher
 * tells Chromium where its libraries and fonts are.
 */
async function unpackPrivately() {
  const work = path.join(cache, 'apt');
  rmSync(work, { recursive: true, force: true });
  for (const directory of ['lists/partial', 'archives/partial'])
    mkdirSync(path.join(work, directory), { recursive: true });
  try {
    const trouble = await downloadPackages(work);
    if (trouble !== undefined) return { trouble };
    const unpacked = await unpackAll(work, path.join(cache, 'root'));
    if (unpacked !== undefined) return { trouble: unpacked };
    writeLauncher(path.join(cache, 'root'));
    const fault = await tryOut(cachedLauncher);
    return fault === undefined ? { file: cachedLauncher } : { trouble: `unpacked, but: ${fault}` };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

async function downloadPackages(work) {
  const settings = {
    'Dir::State': work,
    'Dir::State::lists': path.join(work, 'lists'),
    'Dir::State::status': '/var/lib/dpkg/status',
    'Dir::Cache': work,
    'Dir::Cache::archives': path.join(work, 'archives'),
    'Dir::Log': work,
    'APT::Sandbox::User': '',
    'Debug::NoLocking': '1',
    'Acquire::Retries': '1',
  };
  const config = path.join(work, 'apt.conf');
  const hooks = ['APT::Update::Pre-Invoke', 'APT::Update::Post-Invoke', 'APT::Update::Post-Invoke-Success', 'DPkg'];
  const lines = Object.entries(settings).map(([name, value]) => `${name} "${value}";\n`);
  writeFileSync(config, [...hooks.map((hook) => `#clear ${hook};\n`), ...lines].join(''));
  const env = { ...process.env, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' };
  progress('downloading chromium from Debian, without root');
  const updated = await capture('apt-get', ['-c', config, 'update', '-q'], { env, timeoutMs: 180_000 });
  if (updated.code !== 0) return lastLine(updated.output);
  const args = ['-c', config, 'install', '-y', '-q', '--download-only', '--no-install-recommends', ...PACKAGES];
  const got = await capture('apt-get', args, { env, timeoutMs: 900_000 });
  return got.code === 0 ? undefined : lastLine(got.output);
}

async function unpackAll(work, target) {
  rmSync(target, { recursive: true, force: true });
  const archives = path.join(work, 'archives');
  for (const name of readdirSync(archives).filter((file) => file.endsWith('.deb'))) {
    const { code, output } = await capture('dpkg', ['-x', path.join(archives, name), target]);
    if (code !== 0) return `${name}: ${lastLine(output)}`;
  }
  return existsSync(path.join(target, 'usr/lib/chromium/chromium')) ? undefined : 'the packages hold no chromium';
}

/** Every folder that holds shared libraries: some packages keep theirs one level below the usual place, and find them by an absolute path. */
function libraryFolders(folder) {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { withFileTypes: true });
  const own = entries.some(({ name }) => /^lib.*\.so/.test(name)) ? [folder] : [];
  const below = entries.filter((entry) => entry.isDirectory());
  return [...own, ...below.flatMap(({ name }) => libraryFolders(path.join(folder, name)))];
}

function writeLauncher(target) {
  const places = ['usr/lib', 'lib'].flatMap((folder) => libraryFolders(path.join(target, folder)));
  const fonts = path.join(cache, 'fonts.conf');
  const directories = ['/usr/share/fonts', path.join(target, 'usr/share/fonts')].map((dir) => `<dir>${dir}</dir>`);
  const fontCache = `<cachedir>${path.join(cache, 'fontcache')}</cachedir>`;
  writeFileSync(fonts, `<?xml version="1.0"?><fontconfig>${directories.join('')}${fontCache}</fontconfig>\n`);
  const script = [
    '#!/bin/sh',
    `export LD_LIBRARY_PATH='${places.join(':')}'`,
    `export FONTCONFIG_FILE='${fonts}'`,
    `exec '${path.join(target, 'usr/lib/chromium/chromium')}' --no-sandbox "$@"`,
  ];
  writeFileSync(cachedLauncher, `${script.join('\n')}\n`);
  chmodSync(cachedLauncher, 0o755);
}

function lastLine(output) {
  return (
    output
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .at(-1) ?? ''
  );
}

if (isProgram(import.meta.url)) {
  main(async () => process.stdout.write(`${await ensureChromium()}\n`));
}
