import { describe, expect, it } from '@jest/globals';
import type { TenantId } from '@countersign/contracts';
import type { AnyControl, Change, Wanted } from '../src/ledger/control.ts';
import type { LedgerWrite } from '../src/ledger/commit.ts';
import { Prisma as Sql } from '../src/generated/prisma/client.ts';
import { bigintArray, textArray } from '../src/store/binary-array.ts';
import { linkColumnsSql, linkOf } from '../src/store/chain-link.ts';
import { ledgerList, type LedgerFilter } from '../src/store/ledger-list.ts';
import { receiptColumnsSql, receiptOf, receiptsOf } from '../src/store/ledger-row.ts';
import { append, lockChains, lockControls, readParameters, readStatement, rowLocks } from '../src/store/ledger-sql.ts';
import { pageOf, pageStart } from '../src/store/page.ts';
import { asStored } from '../src/store/stored-row.ts';
import { WholeNumber } from '../src/store/whole-number.ts';
import { digest } from './_store-rows.ts';

const encoded = (text: string) => Buffer.from(text).toString('base64url');

describe('a page', () => {
  it('begins after the key in its cursor, and a malformed cursor is rejected', () => {
    expect(pageStart({ limit: 1 }, /^b$/)).toBeNull();
    expect(pageStart({ limit: 1, cursor: encoded('b') }, /^b$/)).toBe('b');
    const refused = { code: 'INVALID_REQUEST', param: 'cursor' };
    expect(() => pageStart({ limit: 1, cursor: encoded('c') }, /^b$/)).toThrow(expect.objectContaining(refused));
    expect(() => pageStart({ limit: 1, cursor: '' }, /^b$/)).toThrow(expect.objectContaining(refused));
  });

  it.each([
    { rows: ['a', 'b', 'c'], limit: 2, data: ['A', 'B'], next: encoded('b') },
    { rows: ['a', 'b'], limit: 2, data: ['A', 'B'], next: null },
    { rows: ['a'], limit: 2, data: ['A'], next: null },
    { rows: [], limit: 2, data: [], next: null },
    { rows: ['a'], limit: 0, data: [], next: null },
  ])(
    'with limit $limit of $rows has its last row as the next cursor, if more rows follow',
    ({ rows, limit, data, next }) => {
      const view = { item: (row: string) => row.toUpperCase(), key: (row: string) => row };
      expect(pageOf(rows, limit, view)).toEqual({ data, next_cursor: next });
    },
  );
});

describe('a stored row', () => {
  it('is converted with bigints as numbers and times as text, and all other values unchanged', () => {
    const row = { count: 5n, at: new Date(0), text: 'a', none: null, list: [1] };
    expect(asStored(row)).toEqual({ count: 5, at: '1970-01-01T00:00:00.000Z', text: 'a', none: null, list: [1] });
  });

  it('rejects numbers beyond the safe integers', () => {
    expect(WholeNumber.parse(2n ** 53n - 1n)).toBe(Number.MAX_SAFE_INTEGER);
    expect(() => WholeNumber.parse(2n ** 53n)).toThrow();
    expect(() => WholeNumber.parse(5)).toThrow();
  });
});

describe('a row of the ledger', () => {
  const row = { log_index: 7n, payload: '{"a":1}', key_id: 'k', signature: 'sig', receipt_hash: digest(1) };

  it('is converted to a receipt from the selected columns', () => {
    expect(receiptColumnsSql.sql).toBe('log_index, payload, key_id, signature, receipt_hash');
    const signature = { alg: 'Ed25519', key_id: 'k', value: 'sig' };
    const receipt = { payload: { a: 1 }, signature, receipt_hash: digest(1), log_index: 7 };
    expect(receiptOf(row)).toEqual(receipt);
    expect(receiptsOf([row, row])).toEqual([receipt, receipt]);
    for (const name of Object.keys(row)) expect(() => receiptOf({ ...row, [name]: undefined })).toThrow();
    expect(() => receiptsOf(row)).toThrow();
  });

  it('is converted to a chain link with its texts as sealed', () => {
    const link = { ...row, session_id: 's', lamport_clock: 3n, record: null };
    expect(linkColumnsSql.sql).toBe(
      'session_id, log_index, lamport_clock, receipt_hash, payload, key_id, signature, record',
    );
    const made = { session: 's', logIndex: 7, lamport: 3, receiptHash: digest(1), keyId: 'k', record: null };
    expect(linkOf(link)).toEqual({ ...made, payload: '{"a":1}', signature: 'sig' });
    expect(linkOf({ ...link, record: '{}' }).record).toBe('{}');
    for (const name of Object.keys(link)) expect(() => linkOf({ ...link, [name]: undefined })).toThrow();
  });
});

const control = (name: string, more: Partial<AnyControl> = {}): AnyControl => ({
  ...{ name, guard: 'epoch', keyColumns: 1, select: (at) => `${name} ${at(0)}`, keyValues: (key) => [String(key)] },
  ...{ keyText: String, rowOf: (row) => row, idOf: String, setsOf: () => [] },
  ...more,
});
const wantedOf = (of: AnyControl, key: unknown): Wanted => ({ control: of, key, set: String(key) });

const one = control('one', { lock: (at) => `lock one ${at(0)}`, stored: (row) => ({ one: row }) });
const pair = control('pair', {
  keyColumns: 2,
  select: (at) => `pair ${at(0)} ${at(1)}`,
  keyValues: (key) => (key === 'short' ? ['short'] : [null, String(key)]),
  quiet: { sql: 'no pair', covers: () => true, chainOf: () => ({ tenant: 'a', session: 's' }) as never },
  stored: (row) => ({ pair: row }),
});
const last = control('last', {
  lock: (at) => `lock last ${at(0)}`,
  quiet: { sql: 'no last', covers: () => true, chainOf: () => ({ tenant: 'a', session: 's' }) as never },
});
const controls = [one, pair, last];

describe('the statement that reads all facts', () => {
  it('queries each control with its own parameters, after the parameters of the chains', () => {
    const { name, text } = readStatement(controls);
    expect(text.replaceAll(/\s+/g, ' ')).toBe(
      'SELECT (SELECT epoch FROM controls WHERE id = 1) AS mark, timeline() AS timeline, ' +
        '(SELECT json_agg(h) FROM (SELECT h.tenant_id, h.session_id, h.lamport_clock, h.receipt_hash, h.issued_at, ' +
        "array_remove(ARRAY[CASE WHEN no pair THEN 'pair' END, CASE WHEN no last THEN 'last' END]::text[], NULL) AS quiet " +
        'FROM unnest($1::text[], $2::text[]) AS wanted(tenant_id, session_id) ' +
        'JOIN session_heads h USING (tenant_id, session_id)) AS h) AS heads, ' +
        '(SELECT json_agg(s) FROM (one $3::text[]) AS s) AS one, ' +
        '(SELECT json_agg(s) FROM (pair $4::text[] $5::text[]) AS s) AS pair, ' +
        '(SELECT json_agg(s) FROM (last $6::text[]) AS s) AS last',
    );
    expect(name).not.toBe('');
  });

  it('receives the chains and the keys of each control, column by column', () => {
    const sets = [wantedOf(one, 'x'), wantedOf(pair, 'short'), wantedOf(one, 'y'), wantedOf(pair, 'long')];
    const chains = [{ tenant: 'a', session: 's' }] as never;
    expect(readParameters(controls, { chains, sets })).toEqual(
      [['a'], ['s'], ['x', 'y'], ['short', null], [null, 'long'], []].map((texts) => textArray(texts)),
    );
  });

  it('locks only the requested rows, in the order of the list', () => {
    const locks = rowLocks(controls, [wantedOf(last, 'z'), wantedOf(pair, 'long'), wantedOf(one, 'x')]);
    expect(locks.map(({ text, values }) => [text, values])).toEqual([
      ['lock one $1::text[]', [textArray(['x'])]],
      ['lock last $1::text[]', [textArray(['z'])]],
    ]);
    expect(rowLocks(controls, [wantedOf(pair, 'long')])).toEqual([]);
  });

  it('is prepared under its own name, like the related statements', () => {
    const locks = rowLocks(controls, [wantedOf(one, 'x'), wantedOf(last, 'z')]);
    const names = [readStatement(controls), append, lockControls, lockChains, ...locks].map(({ name }) => name);
    expect(new Set(names.filter((name) => name !== '')).size).toBe(6);
  });
});

describe('the append statement', () => {
  it('passes arguments by name, each with its own placeholder in the order of the values', () => {
    const [call = '', hold = ''] = append.text.split('FROM hold_append');
    const places = [...call.matchAll(/(\w+) => \$(\d+)::([\w[\]]+)/g)].map(([, name, place]) => [name, Number(place)]);
    expect(places.map(([, place]) => place)).toEqual(Array.from({ length: 26 }, (_, index) => index + 1));
    const at = new Map(places.map(([name, place]) => [name, place]));
    expect(hold.replaceAll(/\s+/g, ' ')).toBe(
      `(dated => $27::timestamptz, skew_max => interval '20000 ms', keys => $${at.get('key_ids')}::text[], ` +
        `issued => $${at.get('issued')}::timestamptz[], read_on => $28::text)`,
    );
  });

  const batchOf = (changes: readonly Change[], reads: unknown[] = []) =>
    ({
      epoch: { mark: 3, timeline: '00000001' },
      batch: { sealed: [], chains: [], changes, reads },
    }) as unknown as LedgerWrite;
  const valuesOf = (write: LedgerWrite) => append.valuesOf({ ...write, datedMs: 0 });
  const changed = (write: LedgerWrite) => valuesOf(write).slice(7, 10);

  it('contains null for rows read and changes when there are none', () => {
    expect(changed(batchOf([]))).toEqual([null, null, null]);
    expect(changed(batchOf([], [{ control: one, rows: [] }]))).toEqual([null, null, null]);
    expect(valuesOf(batchOf([])).slice(26)).toEqual(['1970-01-01T00:00:00.000Z', '00000001']);
    expect(valuesOf(batchOf([])).slice(0, 5)).toEqual([3, ...[1, 2, 3].map(() => textArray([])), bigintArray([])]);
  });

  it('groups rows by control, with writes and deletions apart', () => {
    const changes: Change[] = [
      { control: one, row: 1, kind: 'put' },
      { control: pair, row: 2, kind: 'drop' },
      { control: one, row: 3, kind: 'put' },
    ];
    const reads = [
      { control: pair, rows: [4, 5] },
      { control: one, rows: [] },
      { control: last, rows: [6] },
    ];
    expect(changed(batchOf(changes, reads))).toEqual([
      '{"pair":[{"pair":4},{"pair":5}],"last":[null]}',
      '{"one":[{"one":1},{"one":3}]}',
      '{"pair":[{"pair":2}]}',
    ]);
  });

  it('rejects a row of a control that the ledger does not write', () => {
    expect(() => valuesOf(batchOf([{ control: last, row: 1, kind: 'put' }]))).toThrow('last');
  });
});

describe('the statement of a list', () => {
  const of = (filter: LedgerFilter, before: number | null = null, having?: Sql.Sql) => {
    const page = { limit: 5, before };
    const request = having === undefined ? { filter, page } : { filter, page, having };
    const statement = ledgerList(Sql.sql`a`, 'acme' as TenantId, request);
    return statement === null ? null : [statement.sql.replaceAll(/\s+/g, ' '), ...statement.values];
  };
  const byPlace = 'ORDER BY log_index DESC NULLS LAST LIMIT ?';
  const byTime = 'ORDER BY issued_at DESC NULLS LAST, log_index DESC NULLS LAST LIMIT ?';
  const start = 'SELECT a FROM ledger WHERE tenant_id = ?';
  const behind = '(issued_at, log_index) < ((SELECT issued_at FROM ledger WHERE log_index = ?), ?)';

  it('is ordered by position in the log, or by time when times are requested', () => {
    expect(of({})).toEqual([`${start} ${byPlace}`, 'acme', 5]);
    expect(of({}, 9)).toEqual([`${start} AND log_index < ? ${byPlace}`, 'acme', 9, 5]);
    expect(of({ from: 'f' })).toEqual([`${start} AND issued_at >= ?::timestamptz ${byTime}`, 'acme', 'f', 5]);
    expect(of({ to: 't' })).toEqual([`${start} AND issued_at < ?::timestamptz ${byTime}`, 'acme', 't', 5]);
    const both = `${start} AND issued_at >= ?::timestamptz AND issued_at < ?::timestamptz AND ${behind} ${byTime}`;
    expect(of({ from: 'f', to: 't' }, 9)).toEqual([both, 'acme', 'f', 't', 9, 9, 5]);
  });

  it('compares the requested columns, after the additional condition', () => {
    const filter = { session_id: 's', tool: undefined, kind: 'k' };
    const text = `${start} AND held AND session_id = ? AND kind = ? ${byPlace}`;
    expect(of(filter, null, Sql.sql`held`)).toEqual([text, 'acme', 's', 'k', 5]);
  });

  it('finds ALLOWED by its verdict, and returns nothing when verdict and reason exclude each other', () => {
    const allowed = [`${start} AND verdict = ? ${byPlace}`, 'acme', 'ALLOW', 5];
    expect(of({ reason_code: 'ALLOWED' })).toEqual(allowed);
    expect(of({ reason_code: 'ALLOWED', verdict: 'ALLOW' })).toEqual(allowed);
    expect(of({ reason_code: 'ALLOWED', verdict: 'DENY' })).toBeNull();
    expect(of({ reason_code: 'THROTTLED', verdict: 'ALLOW' })).toBeNull();
    const throttled = `${start} AND reason_code = ?`;
    expect(of({ reason_code: 'THROTTLED' })).toEqual([`${throttled} ${byPlace}`, 'acme', 'THROTTLED', 5]);
    const denied = `${start} AND verdict = ? AND reason_code = ? ${byPlace}`;
    expect(of({ verdict: 'DENY', reason_code: 'THROTTLED' })).toEqual([denied, 'acme', 'DENY', 'THROTTLED', 5]);
    expect(of({ verdict: 'DENY' })).toEqual([`${start} AND verdict = ? ${byPlace}`, 'acme', 'DENY', 5]);
  });
});
