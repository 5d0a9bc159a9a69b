import { describe, expect, it } from 'vitest';
import { withRev } from '../src/live/rev';
import { added, KEPT_GROUPS, type Stream } from '../src/history/use-events';
import { isAtEnd } from '../src/task/at-end';

describe('links from a page of the past', () => {
  it('lead to the same moment, keep their own filters and anchors, and never change a moment that is named', () => {
    expect(withRev('/tasks?state=FAILURE', '77')).toBe('/tasks?state=FAILURE&rev=77');
    expect(withRev('/nodes/a%2Fb#locks', '77')).toBe('/nodes/a%2Fb?rev=77#locks');
    expect(withRev('/tasks/x?rev=12', '77')).toBe('/tasks/x?rev=12');
  });

  it('leave the past where a page is about now', () => {
    for (const href of ['/history', '/events?kind=locks', '/audit', '/settings', '/tasks/new', '/workflows/new']) {
      expect(withRev(href, '77')).toBe(href);
    }
    expect(withRev('/historyish', '77')).toBe('/historyish?rev=77');
  });

  it('are themselves on the live board', () => {
    expect(withRev('/tasks?q=a', undefined)).toBe('/tasks?q=a');
  });
});

describe('the change stream in the page', () => {
  const nothing: Stream = { groups: [], dropped: 0, missed: false, revision: undefined, error: null };
  const page = (from: number, count: number) => ({
    revision: String(from + count - 1),
    heldFrom: '0',
    missed: false,
    groups: Array.from({ length: count }, (_, i) => ({ revision: String(from + i), events: [], hidden: 0 })),
  });

  it('holds the latest transactions, newest first, within its bound, and counts what it let go', () => {
    const stream = added(added(nothing, page(1, 300)), page(301, 300));
    expect(stream.groups).toHaveLength(KEPT_GROUPS);
    expect(stream.groups[0]?.revision).toBe('600');
    expect(stream.groups.at(-1)?.revision).toBe('101');
    expect(stream.dropped).toBe(100);
  });

  it('goes on saying that changes were missed', () => {
    const stream = added(added(nothing, { ...page(1, 1), missed: true }), page(2, 1));
    expect(stream.missed).toBe(true);
  });
});

describe('logs', () => {
  it('follow only a reader who is at the end (report B26)', () => {
    expect(isAtEnd({ scrollTop: 1_700, scrollHeight: 2_000, clientHeight: 300 })).toBe(true);
    expect(isAtEnd({ scrollTop: 1_690, scrollHeight: 2_000, clientHeight: 300 })).toBe(true);
    expect(isAtEnd({ scrollTop: 1_200, scrollHeight: 2_000, clientHeight: 300 })).toBe(false);
  });
});
