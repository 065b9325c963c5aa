import { describe, expect, it } from '@jest/globals';
import { olderThan, pageOf } from '../src/store/page.ts';

const id = `tsk_${'0123456789ABCDEFGHJKMNPQRSTVWXYZ'.slice(-26)}`;
const cursorOf = (key: string) => Buffer.from(key).toString('base64url');
const view = { item: (row: string) => row.toUpperCase(), key: (row: string) => row };

describe('a page', () => {
  it.each<[string[], number, string[], string | null]>([
    [[], 2, [], null],
    [['c', 'b'], 2, ['C', 'B'], null],
    [['c', 'b', 'a'], 2, ['C', 'B'], 'b'],
    [['c'], 0, [], null],
  ])('of the rows %j with the limit %d contains %j, and the next page begins after %j', (rows, limit, data, last) => {
    expect(pageOf(rows, { limit }, view)).toEqual({ data, nextCursor: last === null ? null : cursorOf(last) });
  });

  it('begins at the newest without a cursor', () => {
    expect(olderThan({ limit: 1 })).toEqual({});
  });

  it.each([id, '1', '10', '9999999999'])('continues after %s', (key) => {
    expect(olderThan({ limit: 1, cursor: cursorOf(key) })).toEqual({ lt: key });
  });

  it.each([
    ...['', '0', '01', '-1', '1.5', '10000000000', 'x1', '1x', `x${id}`, `${id}0`, id.slice(0, -1), id.toLowerCase()],
    ...[id.replace('tsk', 'TSK'), id.replace('tsk', 'ts'), id.replace('_', '-'), `${id.slice(0, -1)}U`],
  ])('rejects the cursor of %j', (key) => {
    const refused = expect.objectContaining({ code: 'INVALID_REQUEST', param: 'cursor' });
    expect(() => olderThan({ limit: 1, cursor: cursorOf(key) })).toThrow(refused);
  });
});
