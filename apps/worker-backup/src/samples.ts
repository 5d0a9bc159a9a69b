/** Databases to work on in a fresh checkout: a sound one with some weight, and one that is damaged. */
import Database from 'libsql';
import { closeSync, existsSync, mkdirSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import path from 'node:path';

export function makeSamples(folder: string, rows = 40_000): void {
  mkdirSync(folder, { recursive: true });
  make(path.join(folder, 'sample.db'), rows);
  make(path.join(folder, 'damaged.db'), 2_000, damage);
}

function make(file: string, rows: number, spoil?: (file: string) => void): void {
  if (existsSync(file)) return;
  const draft = `${file}.${process.pid}.part`;
  rmSync(draft, { force: true });
  const db = new Database(draft);
  db.exec('CREATE TABLE sensors (id INTEGER PRIMARY KEY, place TEXT NOT NULL)');
  db.exec(
    'CREATE TABLE readings (id INTEGER PRIMARY KEY, sensor INTEGER NOT NULL REFERENCES sensors (id), value REAL)',
  );
  db.exec('CREATE INDEX readings_sensor ON readings (sensor)');
  const sensor = db.prepare('INSERT INTO sensors (place) VALUES (?)');
  const reading = db.prepare('INSERT INTO readings (sensor, value) VALUES (?, ?)');
  db.transaction(() => {
    for (let n = 1; n <= 16; n++) sensor.run(`hall ${n}`);
    for (let n = 0; n < rows; n++) reading.run((n % 16) + 1, 20 + 5 * Math.sin(n / 97));
  })();
  db.close();
  spoil?.(draft);
  renameSync(draft, file);
}

/** Writes over the inner pages, as a failing disk does; the first page, with the schema, stays readable. */
function damage(file: string): void {
  const page = 4_096;
  const pages = statSync(file).size / page;
  const handle = openSync(file, 'r+');
  for (const at of [Math.floor(pages / 2), pages - 2]) writeSync(handle, Buffer.alloc(page, 0xa5), 0, page, at * page);
  closeSync(handle);
}
