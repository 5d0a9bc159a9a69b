import { parseTasksUrl, serializeTasksUrl, TASK_COLUMNS } from '@leasehold/wire';
import { expect, test } from 'vitest';
import { columnsOf, trackOf, USUAL_COLUMNS, withColumn } from '../src/board/columns';

const read = (search: string) => parseTasksUrl(new URLSearchParams(search)).state;

test('columns are of the URL: shown, hidden, and the usual ones not spelled out', () => {
  const plain = read('');
  expect(columnsOf(plain)).toEqual(USUAL_COLUMNS);
  const more = withColumn(plain, 'attempt', TASK_COLUMNS);
  expect(serializeTasksUrl(more)).toBe('cols=state%2Ctask%2Cqueue%2Cnode%2Ctime%2Cattempt');
  expect(columnsOf(read(serializeTasksUrl(more)))).toEqual([...USUAL_COLUMNS, 'attempt']);
  expect(serializeTasksUrl(withColumn(more, 'attempt', TASK_COLUMNS))).toBe('');
});

test('a list always has its tasks, and unknown columns fall back to the usual ones', () => {
  expect(columnsOf(read('cols=state,id'))).toEqual(['task', 'state', 'id']);
  expect(columnsOf(read('cols=state,nonsense'))).toEqual(USUAL_COLUMNS);
});

test('a row has one track for each column and one for box and arrow', () => {
  expect(trackOf(['task', 'time']).tracks.split(' ')).toHaveLength(3);
  expect(trackOf(TASK_COLUMNS).minPx).toBeGreaterThan(trackOf(['task']).minPx);
});
