import { handle, type Handling } from '@leasehold/core';
import * as handlers from './handlers.js';
import type { Shop } from './shop.js';
import { processInventory, restock, updateProfile, verifyUser } from './tasks.js';

/** Which function of the shop runs which task. */
export function ordersHandlers(shop: Shop): readonly Handling[] {
  return [
    handle(processInventory, (args, context) => handlers.processInventory(shop, args, context)),
    handle(restock, (args, context) => handlers.restock(shop, args, context)),
    handle(verifyUser, (args, context) => handlers.verifyUser(shop, args, context)),
    handle(updateProfile, (args, context) => handlers.updateProfile(shop, args, context)),
  ];
}
