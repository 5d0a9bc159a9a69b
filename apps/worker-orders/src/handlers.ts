/** The work itself: plain functions on a shop, which a test calls without any scheduler. */
import { BadQuantityError, OutOfStockError, UnknownSkuError, UnknownUserError, UnverifiedUserError } from './errors.js';
import { once } from './once.js';
import type { Shop } from './shop.js';
import type { Work } from './work.js';

interface StockChange {
  readonly sku: string;
  readonly quantity: number;
}

export function processInventory(shop: Shop, { sku, quantity }: StockChange, work: Work): bigint {
  if (quantity < 1) throw new BadQuantityError(quantity);
  const left = once(shop, work, () => {
    const stock = stockOf(shop, sku);
    if (stock < BigInt(quantity)) throw new OutOfStockError(sku, quantity, stock);
    return move(shop, sku, -quantity, work);
  });
  work.log(`${sku}: ${quantity} taken, ${left} left`);
  return left;
}

export function restock(shop: Shop, { sku, quantity }: StockChange, work: Work): bigint {
  if (quantity < 1) throw new BadQuantityError(quantity);
  const now = once(shop, work, () => {
    stockOf(shop, sku);
    return move(shop, sku, quantity, work);
  });
  work.log(`${sku}: ${quantity} added, ${now} in stock`);
  return now;
}

function stockOf(shop: Shop, sku: string): bigint {
  const row = shop.prepare('SELECT quantity FROM stock WHERE sku = ?').get(sku) as { quantity: bigint } | undefined;
  if (row === undefined) throw new UnknownSkuError(sku);
  return row.quantity;
}

/** The stock is the sum of its movements; both change together. */
function move(shop: Shop, sku: string, change: number, work: Work): bigint {
  shop
    .prepare('INSERT INTO movements (sku, change, task_id, at_ms) VALUES (?, ?, ?, ?)')
    .run(sku, change, work.id, Date.now());
  shop.prepare('UPDATE stock SET quantity = quantity + ? WHERE sku = ?').run(change, sku);
  return stockOf(shop, sku);
}

interface UserRow {
  readonly email: string;
  readonly blocked: bigint;
  readonly version: bigint;
}

const ADDRESS = /^[^\s@]+@[^\s@]+\.[^\s@.]+$/;

/** Checking twice changes nothing but the time of the check, so this needs no `once`. */
export function verifyUser(shop: Shop, { id }: { readonly id: bigint }, work: Work): boolean {
  work.signal.throwIfAborted();
  const user = userOf(shop, id);
  const verified = user.blocked === 0n && ADDRESS.test(user.email);
  if (verified) shop.prepare('UPDATE users SET verified_ms = ? WHERE id = ?').run(Date.now(), id);
  const why = user.blocked !== 0n ? 'is blocked' : verified ? 'is verified' : `has no usable address: ${user.email}`;
  work.log(`user ${id} ${why}`);
  return verified;
}

interface ProfileChange {
  readonly id: bigint;
  readonly displayName: string;
  readonly verified?: boolean | undefined;
}

export function updateProfile(shop: Shop, { id, displayName, verified }: ProfileChange, work: Work): bigint {
  if (verified === false) throw new UnverifiedUserError(id);
  const version = once(shop, work, () => {
    userOf(shop, id);
    shop.prepare('UPDATE users SET display_name = ?, version = version + 1 WHERE id = ?').run(displayName, id);
    return userOf(shop, id).version;
  });
  work.log(`user ${id} is called ${displayName} now (version ${version})`);
  return version;
}

function userOf(shop: Shop, id: bigint): UserRow {
  const row = shop.prepare('SELECT email, blocked, version FROM users WHERE id = ?').get(id) as UserRow | undefined;
  if (row === undefined) throw new UnknownUserError(id);
  return row;
}
