import { FinalError } from '@leasehold/core';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  BadQuantityError,
  OutOfStockError,
  StaleAttemptError,
  UnknownSkuError,
  UnknownUserError,
  UnverifiedUserError,
} from '../src/errors.js';
import { processInventory, restock, updateProfile, verifyUser } from '../src/handlers.js';
import { openShop, type Shop } from '../src/shop.js';
import type { Work } from '../src/work.js';

const SKU = 'SKU-31337';
let folder: string;
let file: string;
let shop: Shop;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'leasehold-orders-'));
  file = path.join(folder, 'deep/shop.db');
  shop = openShop(file);
});
afterEach(() => {
  shop.close();
  rmSync(folder, { recursive: true });
});

function attempt(id: string, tokenNumber: bigint, signal = new AbortController().signal): Work {
  return { id, tokenNumber, signal, log: () => undefined };
}

function stock(sku = SKU): bigint {
  return (shop.prepare('SELECT quantity FROM stock WHERE sku = ?').get(sku) as { quantity: bigint }).quantity;
}

describe('processInventory', () => {
  test('takes from the stock and gives what is left', () => {
    expect(processInventory(shop, { sku: 'SKU-99283', quantity: 50 }, attempt('t1', 1n))).toBe(450n);
    expect(stock('SKU-99283')).toBe(450n);
  });

  test('refuses when the stock is too low and takes nothing', () => {
    expect(() => processInventory(shop, { sku: SKU, quantity: 4 }, attempt('t1', 1n))).toThrow(OutOfStockError);
    expect(() => processInventory(shop, { sku: SKU, quantity: 4 }, attempt('t1', 2n))).toThrow(RangeError);
    expect(stock()).toBe(3n);
  });

  test('succeeds on a retry after a restock', () => {
    expect(() => processInventory(shop, { sku: SKU, quantity: 4 }, attempt('t1', 1n))).toThrow(OutOfStockError);
    expect(restock(shop, { sku: SKU, quantity: 2 }, attempt('t2', 2n))).toBe(5n);
    expect(processInventory(shop, { sku: SKU, quantity: 4 }, attempt('t1', 3n))).toBe(1n);
  });

  test('takes once when a task is executed twice, and gives the same result', () => {
    expect(processInventory(shop, { sku: SKU, quantity: 2 }, attempt('t1', 1n))).toBe(1n);
    restock(shop, { sku: SKU, quantity: 10 }, attempt('t2', 2n));
    expect(processInventory(shop, { sku: SKU, quantity: 2 }, attempt('t1', 3n))).toBe(1n);
    expect(stock()).toBe(11n);
  });

  test('refuses an attempt that a later one has overtaken', () => {
    processInventory(shop, { sku: SKU, quantity: 1 }, attempt('t1', 9n));
    expect(() => processInventory(shop, { sku: SKU, quantity: 1 }, attempt('t1', 8n))).toThrow(StaleAttemptError);
    expect(stock()).toBe(2n);
  });

  test('compares tokens as numbers beyond 2^53', () => {
    processInventory(shop, { sku: SKU, quantity: 1 }, attempt('t1', 2n ** 60n));
    const later = attempt('t1', 2n ** 60n + 1n);
    expect(processInventory(shop, { sku: SKU, quantity: 1 }, later)).toBe(2n);
  });

  test('does nothing once its signal is aborted', () => {
    const gone = attempt('t1', 1n, AbortSignal.abort(new Error('lease lost')));
    expect(() => processInventory(shop, { sku: SKU, quantity: 1 }, gone)).toThrow('lease lost');
    expect(stock()).toBe(3n);
  });

  test('refuses an article that is not there, and quantities below one, for good', () => {
    expect(() => processInventory(shop, { sku: 'SKU-0', quantity: 1 }, attempt('t1', 1n))).toThrow(UnknownSkuError);
    expect(() => processInventory(shop, { sku: SKU, quantity: 0 }, attempt('t1', 1n))).toThrow(BadQuantityError);
    expect(() => restock(shop, { sku: SKU, quantity: -5 }, attempt('t1', 1n))).toThrow(BadQuantityError);
    expect(new UnknownSkuError('x')).toBeInstanceOf(FinalError);
    expect(new OutOfStockError('x', 1, 0n)).not.toBeInstanceOf(FinalError);
  });

  test('shares one file with another process', () => {
    const other = openShop(file);
    processInventory(other, { sku: SKU, quantity: 1 }, attempt('t1', 1n));
    expect(processInventory(shop, { sku: SKU, quantity: 1 }, attempt('t2', 2n))).toBe(1n);
    other.close();
  });
});

describe('users', () => {
  test('verifies whom it can write to', () => {
    expect(verifyUser(shop, { id: 1001n }, attempt('t1', 1n))).toBe(true);
    expect(verifyUser(shop, { id: 1007n }, attempt('t2', 2n))).toBe(false);
    expect(verifyUser(shop, { id: 1008n }, attempt('t3', 3n))).toBe(false);
  });

  test('refuses a user that is not there', () => {
    expect(() => verifyUser(shop, { id: 5n }, attempt('t1', 1n))).toThrow(UnknownUserError);
    expect(() => updateProfile(shop, { id: 5n, displayName: 'x' }, attempt('t1', 1n))).toThrow(UnknownUserError);
  });

  test('changes a profile once, after verification', () => {
    const change = { id: 1002n, displayName: 'Rear Admiral', verified: true };
    expect(updateProfile(shop, change, attempt('t1', 1n))).toBe(2n);
    expect(updateProfile(shop, change, attempt('t1', 2n))).toBe(2n);
    const denied = { id: 1002n, displayName: 'x', verified: false };
    expect(() => updateProfile(shop, denied, attempt('t2', 3n))).toThrow(UnverifiedUserError);
  });
});

test('opening again keeps what was sold', () => {
  processInventory(shop, { sku: SKU, quantity: 3 }, attempt('t1', 1n));
  shop.close();
  shop = openShop(file);
  expect(stock()).toBe(0n);
});
