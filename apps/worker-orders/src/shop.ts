/** The shop's database: one SQLite file that every process of this worker on this machine shares. */
import Database from 'libsql';
import { mkdirSync } from 'node:fs';
import path from 'node:path';

export type Shop = Database.Database;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS stock (
    sku TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    quantity INTEGER NOT NULL CHECK (quantity >= 0)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS movements (
    id INTEGER PRIMARY KEY,
    sku TEXT NOT NULL REFERENCES stock (sku),
    change INTEGER NOT NULL,
    task_id TEXT NOT NULL,
    at_ms INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS users (
    id INTEGER PRIMARY KEY,
    email TEXT NOT NULL UNIQUE,
    display_name TEXT NOT NULL,
    blocked INTEGER NOT NULL DEFAULT 0,
    verified_ms INTEGER,
    version INTEGER NOT NULL DEFAULT 1
  ) STRICT;
  -- What has been done for which task, and by which attempt: see once.ts.
  CREATE TABLE IF NOT EXISTS applied (
    task_id TEXT PRIMARY KEY,
    token TEXT NOT NULL,
    result TEXT NOT NULL
  ) STRICT;
`;

const ARTICLES: readonly (readonly [sku: string, title: string, quantity: number])[] = [
  ['SKU-99283', 'Desk lamp, brass', 500],
  ['SKU-10004', 'Notebook, dotted, A5', 2_000],
  ['SKU-20417', 'Fountain pen, medium', 120],
  ['SKU-31337', 'Letter opener', 3],
  ['SKU-40100', 'Wall clock', 0],
];

const USERS: readonly (readonly [id: number, email: string, name: string, blocked: 0 | 1])[] = [
  [1001, 'ada@example.com', 'Ada', 0],
  [1002, 'grace@example.com', 'Grace', 0],
  [1003, 'barbara@example.com', 'Barbara', 0],
  [1004, 'edsger@example.com', 'Edsger', 0],
  [1005, 'leslie@example.com', 'Leslie', 0],
  [1006, 'min-jun@example.com', '민준', 0],
  [1007, 'mallory@example.com', 'Mallory', 1],
  [1008, 'no address', 'Nobody', 0],
  [1009, 'radia@example.com', 'Radia', 0],
  [1010, 'tony@example.com', 'Tony', 0],
];

/** Opens the shop and fills it when it is new. What is there is never overwritten. */
export function openShop(file: string): Shop {
  mkdirSync(path.dirname(file), { recursive: true });
  const shop = new Database(file);
  // Several processes write; each waits its turn for a moment instead of failing at once.
  shop.exec('PRAGMA busy_timeout = 2000');
  shop.exec('PRAGMA journal_mode = WAL');
  shop.exec('PRAGMA foreign_keys = ON');
  shop.defaultSafeIntegers(true);
  shop.exec(SCHEMA);
  seed(shop);
  return shop;
}

function seed(shop: Shop): void {
  const article = shop.prepare('INSERT OR IGNORE INTO stock (sku, title, quantity) VALUES (?, ?, ?)');
  const user = shop.prepare('INSERT OR IGNORE INTO users (id, email, display_name, blocked) VALUES (?, ?, ?, ?)');
  shop
    .transaction(() => {
      for (const row of ARTICLES) article.run(...row);
      for (const row of USERS) user.run(...row);
    })
    .immediate();
}
