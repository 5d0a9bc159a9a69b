import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SortedList, slotOrder, type Slot } from '../src/projection/sorted-list.js';

const slot = fc.record({ key: fc.nat(50), id: fc.constantFrom(...'abcdefgh') });
const step = fc.record({ insert: fc.boolean(), slot });

test.each([false, true])(
  'it is always what sorting would give, and a snapshot never changes (descending: %s)',
  (desc) => {
    fc.assert(
      fc.property(
        fc.array(slot, { maxLength: 800 }),
        fc.array(step, { maxLength: 60 }),
        fc.nat(60),
        (initial, steps, cut) => {
          const order = slotOrder(desc);
          const unique = [...new Map(initial.map((each) => [`${each.key}/${each.id}`, each])).values()];
          const list = new SortedList(order, unique);
          const model = new Map<string, Slot>(unique.map((each) => [`${each.key}/${each.id}`, each]));
          const sorted = () => [...model.values()].sort(order);
          let snapshot = { list: list.snapshot(), was: sorted() };
          steps.forEach(({ insert, slot: each }, i) => {
            if (i === cut) snapshot = { list: list.snapshot(), was: sorted() };
            const key = `${each.key}/${each.id}`;
            if (!insert) expect(list.remove(each)).toBe(model.delete(key));
            else if (!model.has(key)) {
              model.set(key, each);
              list.insert(each);
            }
          });
          expect(list.size).toBe(model.size);
          expect(list.slice(0, 10_000)).toEqual(sorted());
          expect(list.slice(3, 4)).toEqual(sorted().slice(3, 7));
          expect(snapshot.list.slice(0, 10_000)).toEqual(snapshot.was);
        },
      ),
    );
  },
);

test('two thousand ids in one list: chunks split, nothing is lost', () => {
  const list = new SortedList(slotOrder(false));
  const slots = Array.from({ length: 2_000 }, (_, i) => ({ key: (i * 7_919) % 2_003, id: String(i) }));
  for (const each of slots) list.insert(each);
  expect(list.slice(0, 2_000)).toEqual([...slots].sort(slotOrder(false)));
  for (const each of slots) expect(list.remove(each)).toBe(true);
  expect(list.size).toBe(0);
});
