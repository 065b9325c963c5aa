import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Instant, ReceiptId, SessionId, TenantId } from '@countersign/contracts';
import { emptyFrontier } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { describeStory } from '@countersign/testkit/describe-story';
import { grown } from '../src/ledger/log-tree.ts';
import { listActions } from '../src/store/action-store.ts';
import { findChainEnd, listChain } from '../src/store/chain-store.ts';
import {
  findCheckpoint,
  findLatestCheckpoint,
  listCheckpoints,
  listCheckpointsAbove,
  listHeadsUpTo,
  recordCheckpoint,
} from '../src/store/checkpoint-store.ts';
import { ledgerStore } from '../src/store/ledger-store.ts';
import { getLogReach, listLogLeaves, listLogNodes } from '../src/store/log-store.ts';
import { growLogTree } from '../src/store/log-tree-store.ts';
import { countPeriod, listParts, listPeriod } from '../src/store/period-store.ts';
import { findReceipt, findReceipts, listReceipts, listSealed } from '../src/store/receipt-store.ts';
import {
  findNeighbours,
  findRecord,
  findSealedRecord,
  listEntries,
  listEntriesFrom,
  listRecords,
} from '../src/store/record-store.ts';
import { digest, entry, instant, minute, openTestStore, ulid, type TestStore } from './_store-rows.ts';

const tenant = 'acme' as TenantId;
const s = 's' as SessionId;
const rcp = (nth: number) => `rcp_${ulid(nth)}` as ReceiptId;
const placesOf = (rows: readonly { log_index: number }[]) => rows.map((row) => row.log_index);

let store: TestStore;
const at = (nth: number) => instant(nth) as Instant;

/**
 * Inserts the receipts 0 to 9. Receipt 2 settles 1. Receipt 4 settles 3 and was issued before it. Receipt 0 belongs to
 * session `z`, receipts 5 and 6 to session `t`, and receipt 7 to another tenant.
 */
async function openFilled(): Promise<TestStore> {
  const filled = await openTestStore();
  const outcome = (nth: number, of: number, more: object = {}) =>
    entry(nth, {
      ...{ kind: 'outcome', record: null, ...more },
      sealed: { decision_receipt_id: rcp(of), outcome: 'completed' },
    });
  const record = (nth: number, by: string | null = null) => ({ record: JSON.stringify({ nth, dispatched_by: by }) });
  await filled.insert(
    'ledger',
    ...[entry(0, { ...record(0), lamport_clock: 20, session_id: 'z' }), entry(1, record(1, 'kernel')), outcome(2, 1)],
    ...[entry(3, { ...record(3), issued_at: instant(4) }), outcome(4, 3, { issued_at: instant(3) })],
    entry(5, { ...record(5), session_id: 't', principal_id: 'q', lamport_clock: 1 }),
    entry(6, { ...record(6), session_id: 't', verdict: 'DENY', reason_code: 'THROTTLED', lamport_clock: 2 }),
    entry(7, { ...record(7), tenant_id: 'umbrella', session_id: 's' }),
    entry(8, { ...record(8), kind: 'approval', lamport_clock: 5 }),
    entry(9, { ...record(9), lamport_clock: 6, sealed: { approval_id: 'apr_1' } }),
  );
  await filled.insert('dispatches', { ulid: ulid(9) }, { ulid: ulid(5), tenant_id: 'umbrella' });
  await filled.insert(
    'session_heads',
    { lamport_clock: 6, receipt_hash: digest(9) },
    { session_id: 'new', lamport_clock: 0 },
  );
  return filled;
}

beforeAll(async () => {
  store = await openFilled();
});
afterAll(() => store.close());

/** Runs on a separate store, because it damages rows that other tests read. */
async function onItsOwn(damage: (own: TestStore) => Promise<void>): Promise<void> {
  const own = await openFilled();
  await damage(own).finally(() => own.close());
}

describe('receipts', () => {
  it('are listed newest first in pages, and none match when verdict and reason exclude each other', async () => {
    const list = async (filter: object, limit = 20, before: number | null = null) =>
      placesOf(await listReceipts(store.database.reader, tenant, filter, { limit, before }));
    expect(await list({})).toEqual([9, 8, 6, 5, 4, 3, 2, 1, 0]);
    expect(await list({}, 2, 9)).toEqual([8, 6]);
    expect(await list({ from: at(3), to: at(5) })).toEqual([3, 4]);
    expect(await list({ from: at(1), to: at(5) }, 2, 3)).toEqual([4, 2]);
    expect(await list({ reason_code: 'ALLOWED', verdict: 'DENY' })).toEqual([]);
    expect(await list({ reason_code: 'THROTTLED' })).toEqual([6]);
  });

  it('are found only for their tenant', async () => {
    const { reader } = store.database;
    expect((await findReceipt(reader, tenant, rcp(1)))?.receipt_hash).toBe(digest(1));
    expect(await findReceipt(reader, tenant, rcp(7))).toBeNull();
    expect(placesOf(await findReceipts(reader, tenant, [rcp(1), rcp(7), rcp(5)])).sort()).toEqual([1, 5]);
  });

  it('are read in log order for a watch', async () => {
    const sealed = async (scope: object, range: object = {}) =>
      placesOf(
        await listSealed(
          store.database.reader,
          { tenants: ['umbrella', 'acme'], ...scope },
          { from: 0, below: 99, limit: 99, ...range },
        ),
      );
    expect(await sealed({})).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(await sealed({}, { from: 5, below: 8 })).toEqual([5, 6, 7]);
    expect(await sealed({}, { from: 4, limit: 3 })).toEqual([4, 5, 6]);
    expect(await sealed({ tenants: ['acme'], session: 't' })).toEqual([5, 6]);
    expect(await sealed({ principal: 'q' })).toEqual([5]);
    expect(await sealed({ tenants: [] })).toEqual([]);
  });
});

describe('actions', () => {
  it('are the decisions, each with the outcome of its call', async () => {
    const list = async (limit: number, before: number | null) =>
      (await listActions(store.database.reader, tenant, {}, { limit, before })).map(({ logIndex, action }) => [
        ...[logIndex, action.outcome, action.receipt_ids, action.settled_at, action.dispatched_by, action.approval_id],
      ]);
    const settled = (nth: number, by: string | null, ms: string) => [
      nth,
      'completed',
      [rcp(nth), rcp(nth + 1)],
      ms,
      by,
      null,
    ];
    const unsent = (nth: number) => [nth, 'none', [rcp(nth)], null, null, null];
    expect(await list(20, null)).toEqual([
      [9, 'open', [rcp(9)], null, null, 'apr_1'],
      ...[unsent(6), unsent(5), settled(3, null, at(3)), settled(1, 'kernel', at(2)), unsent(0)],
    ]);
    expect((await list(1, 9)).map(([nth]) => nth)).toEqual([6]);
    const nothing = { reason_code: 'ALLOWED', verdict: 'DENY' };
    expect(await listActions(store.database.reader, tenant, nothing, { limit: 9, before: null })).toEqual([]);
  });
});

describe('records', () => {
  const list = async (filter: object, limit = 20, before: number | null = null) =>
    (await listRecords(store.database.reader, tenant, filter, { limit, before })).map(({ logIndex }) => logIndex);

  it('are listed newest first, and the receipt of an outcome finds the record of its decision', async () => {
    expect(await list({})).toEqual([9, 8, 6, 5, 3, 1, 0]);
    expect(await list({}, 2, 8)).toEqual([6, 5]);
    expect(await list({ receiptId: rcp(3) })).toEqual([3]);
    expect(await list({ receiptId: rcp(4) })).toEqual([3]);
    expect(await list({ receiptId: rcp(7) })).toEqual([]);
    expect(await list({ receiptId: rcp(99) })).toEqual([]);
    expect(await list({ reason_code: 'ALLOWED', verdict: 'DENY' })).toEqual([]);
  });

  it('are found alone and with their receipts, only for their tenant', async () => {
    const { reader } = store.database;
    const id = (nth: number) => `rec_${ulid(nth)}` as never;
    expect(await findRecord(reader, tenant, id(1))).toEqual({ nth: 1, dispatched_by: 'kernel' });
    expect(await findSealedRecord(reader, tenant, id(1))).toMatchObject({
      record: { nth: 1 },
      receipt: { log_index: 1 },
    });
    for (const nth of [2, 7, 99]) {
      expect(await findRecord(reader, tenant, id(nth))).toBeNull();
      expect(await findSealedRecord(reader, tenant, id(nth))).toBeNull();
    }
  });

  it('are listed with all receipts, newest first or from a given position', async () => {
    const { reader } = store.database;
    const reportOf = (rows: { receipt: { log_index: number }; record: unknown }[]) =>
      rows.map(({ receipt, record }) => [receipt.log_index, record]);
    const recordOf = (nth: number) => [nth, { nth, dispatched_by: nth === 1 ? 'kernel' : null }];
    expect(reportOf(await listEntries(reader, tenant, { limit: 2, before: 3 }))).toEqual([[2, null], recordOf(1)]);
    const from = async (range: { from: number; below: number | null; limit: number }) =>
      reportOf(await listEntriesFrom(reader, tenant, range));
    expect(await from({ from: 1, below: 4, limit: 9 })).toEqual([recordOf(1), [2, null], recordOf(3)]);
    expect(await from({ from: 8, below: null, limit: 9 })).toEqual([recordOf(8), recordOf(9)]);
    expect(await from({ from: 6, below: null, limit: 2 })).toEqual([recordOf(6), recordOf(8)]);
  });
});

describe('a chain', () => {
  it('returns the neighbours of a receipt, and its own end', async () => {
    const { reader } = store.database;
    const around = async (session: string, lamport: number) => {
      const found = await findNeighbours(reader, tenant, { session: session as SessionId, lamport });
      return [found.previous?.log_index ?? null, found.next?.log_index ?? null, found.headHash];
    };
    expect(await around('s', 3)).toEqual([2, 4, digest(9)]);
    expect(await around('s', 1)).toEqual([null, 2, digest(9)]);
    expect(await around('s', 6)).toEqual([8, null, digest(9)]);
    expect(await around('t', 1)).toEqual([null, 6, null]);
    const end = (session: string, of = tenant) => findChainEnd(reader, { tenant: of, session: session as SessionId });
    expect(await end('s')).toEqual({ lamport: 6, receiptHash: digest(9) });
    expect([await end('new'), await end('none'), await end('s', 'umbrella' as TenantId)]).toEqual([null, null, null]);
  });

  it('is read between two positions, both included', async () => {
    const chain = async (from: number, to: number, limit = 9) =>
      (await listChain(store.database.reader, { tenant, session: s }, { from, to, limit })).map(
        ({ lamport }) => lamport,
      );
    expect(await chain(2, 4)).toEqual([2, 3, 4]);
    expect(await chain(2, 9, 2)).toEqual([2, 3]);
    expect(await chain(7, 9)).toEqual([]);
  });
});

describe('a period', () => {
  const scope = (from: number, to: number, below = 99) => ({ tenant, from: at(from), to: at(to), below });

  it('is counted up to a limit, including its start and excluding its end', async () => {
    const count = (from: number, to: number, { below = 99, most = 99 } = {}) =>
      countPeriod(store.database.reader, scope(from, to, below), most).then(({ receipts }) => receipts);
    expect(await count(1, 5)).toBe(4);
    expect(await count(1, 6)).toBe(5);
    expect(await count(1, 6, { below: 5 })).toBe(4);
    expect(await count(1, 6, { most: 2 })).toBe(2);
    expect(await count(7, 8)).toBe(0);
  });

  it('is read in order of issue, and marks where each part of a session begins', async () => {
    const walk = async (from: number, after: [number, number], limit = 9) =>
      (
        await listPeriod(store.database.reader, scope(from, 99), {
          after: { issuedAt: at(after[0]), logIndex: after[1] },
          limit,
        })
      ).map(({ place, begins, lamport, session }) => [place.logIndex, place.issuedAt, begins, lamport, session]);
    expect(await walk(2, [2, 0], 4)).toEqual([
      [2, at(2), true, 2, 's'],
      [4, at(3), false, 4, 's'],
      [3, at(4), false, 3, 's'],
      [5, at(5), true, 1, 't'],
    ]);
    expect((await walk(3, [3, 4], 1)).map(([nth]) => nth)).toEqual([3]);
    expect((await walk(4, [3, 4], 1)).map(([nth, , begins]) => [nth, begins])).toEqual([[3, true]]);
    expect((await walk(0, [0, -1], 1)).map(([nth, , begins]) => [nth, begins])).toEqual([[0, null]]);
  });

  it('is read part by part, by session and position', async () => {
    const deps = async (of: Record<string, number>, limit: number, below = 99) =>
      (
        await listParts(store.database.reader, scope(2, 99, below), {
          pieces: Object.entries(of).map(([session, lamport]) => ({ session: session as SessionId, lamport })),
          limit,
        })
      ).map(({ logIndex }) => logIndex);
    expect(await deps({ t: 1, s: 1 }, 9)).toEqual([5, 6, 2, 3, 4, 8, 9]);
    expect(await deps({ s: 3, t: 2 }, 9)).toEqual([3, 4, 8, 9, 6]);
    expect(await deps({ s: 2, t: 1 }, 3)).toEqual([2, 3, 4]);
    expect(await deps({ s: 2, t: 1 }, 9, 6)).toEqual([2, 3, 4, 5]);
  });
});

describeStory('checkpoints', () => {
  const taken = (nth: number, size: number, made: Date | number = minute(nth)) =>
    recordCheckpoint(store.database.transaction, {
      ...{ id: `chk_${ulid(nth)}`, size, root: digest(nth), noteAt: () => `note ${nth}`, at: new Date(made) },
    } as never);

  it('add their records to the count of the previous one, and exist once per size', async () => {
    expect(await findLatestCheckpoint(store.database.reader)).toBeNull();
    const first = await taken(1, 4);
    expect(first).toEqual({
      ...{ checkpoint_id: `chk_${ulid(1)}`, tree_size: 4, root_hash: digest(1), receipt_count: 4, record_count: 3 },
      ...{ note: 'note 1', previous_checkpoint_id: null, created_at: instant(1) },
    });
    expect(await taken(2, 10, minute(5))).toMatchObject({
      record_count: 8,
      previous_checkpoint_id: first.checkpoint_id,
    });
    expect(await taken(3, 10)).toMatchObject({ checkpoint_id: `chk_${ulid(2)}`, note: 'note 2' });
    expect(await taken(4, 6)).toMatchObject({ record_count: 4, previous_checkpoint_id: first.checkpoint_id });
  });

  it('are dated in order of size, even if the clocks of their signers differ', async () => {
    const seconds = (nth: number, after: number) => new Date(minute(nth).getTime() + after * 1_000);
    expect((await taken(5, 12, seconds(4, 30))).created_at).toBe(instant(5));
    expect((await taken(6, 11, seconds(5, 1))).created_at).toBe(instant(5));
    // The checkpoint of the smaller tree is dated more than a minute later. Its clock was wrong, so its time is
    // ignored.
    expect((await taken(7, 13, seconds(3, 59))).created_at).toBe(seconds(3, 59).toISOString());
    await store.client.query('DELETE FROM checkpoints WHERE tree_size > 10');
  });

  it('are found up to a size, largest first', async () => {
    const upTo = async (size: number) =>
      (await listHeadsUpTo(store.database.reader, { size, without: [], limit: 2 })).map(({ tree_size }) => tree_size);
    expect([await upTo(10), await upTo(9), await upTo(3)]).toEqual([[10, 6], [6, 4], []]);
  });

  it('are found by ID, and listed by size', async () => {
    const { reader } = store.database;
    const size = (found: { tree_size: number } | null) => found?.tree_size ?? null;
    expect(size(await findLatestCheckpoint(reader))).toBe(10);
    expect(size(await findCheckpoint(reader, `chk_${ulid(4)}`))).toBe(6);
    expect(await findCheckpoint(reader, 'none')).toBeNull();
    const list = async (limit: number, beforeSize: number | null) =>
      (await listCheckpoints(reader, { limit, beforeSize })).map(({ tree_size }) => tree_size);
    expect([await list(9, null), await list(9, 10), await list(1, 10)]).toEqual([[10, 6, 4], [6, 4], [6]]);
    const above = async (of: number, limit: number) => (await listCheckpointsAbove(reader, of, limit)).map(size);
    expect([await above(4, 9), await above(3, 2), await above(10, 9)]).toEqual([[6, 10], [4, 6], []]);
  });

  it('have their largest size returned together with the size of the log', async () => {
    await store.client.query('UPDATE log_head SET size = 12');
    expect(await getLogReach(store.database.reader)).toEqual({ size: 12, checkpointed: 10 });
    await store.client.query('DELETE FROM checkpoints');
    expect(await getLogReach(store.database.reader)).toEqual({ size: 12, checkpointed: 0 });
  });
});

describe('the tree of the log', () => {
  it('returns runs of leaves, each from a requested position', async () => {
    const leaves = await listLogLeaves(store.database.reader, [8, 2], 2);
    expect(leaves).toEqual([2, 3, 8, 9].map((nth) => ({ index: nth, receiptHash: digest(nth) })));
  });

  it('grows over the whole log in steps, and rejects a log with a gap', () =>
    onItsOwn(async (own) => {
      await own.client.query(
        `INSERT INTO ledger SELECT n, lpad(n::text, 26, '0'), 'filled', 'f', n, 'p', 'outcome', 'ALLOW', 'ALLOWED', 'a', NULL, now(),
              'sha256:' || lpad(n::text, 64, '0'), '{}', 'k', 'sig', NULL FROM generate_series(10, 4099) n`,
      );
      const { transaction, reader } = own.database;
      const hashes = Array.from({ length: 4_100 }, (_, nth) => digest(nth) as never);
      const expected = grown(nodeProvider, emptyFrontier, hashes);
      const reportOf = ({ size, hashes: roots }: { size: number; hashes: readonly Uint8Array[] }) => [
        size,
        roots.map((root) => Buffer.from(root).toString('hex')),
      ];
      expect(reportOf(await growLogTree(transaction, nodeProvider))).toEqual(reportOf(expected.frontier));
      expect(reportOf(await growLogTree(transaction, nodeProvider))).toEqual(reportOf(expected.frontier));
      const stored = await listLogNodes(reader, [
        { level: 8, index: 15 },
        { level: 8, index: 99 },
        { level: 12, index: 0 },
      ]);
      const nodes = expected.nodes.filter(({ level, index }) => (level === 8 && index === 15) || level === 12);
      const plain = (of: readonly { level: number; index: number; hash: Uint8Array }[]) =>
        of.map(({ level, index, hash }) => [level, index, Buffer.from(hash).toString('hex')]).sort();
      expect(plain(stored)).toEqual(plain(nodes));
      await own.client.query('DELETE FROM ledger WHERE log_index > 4096');
      await own.insert('ledger', entry(4_101, { lamport_clock: 99 }));
      await expect(growLogTree(transaction, nodeProvider)).rejects.toThrow('lacks entries');
      await own.client.query('DELETE FROM log_tree');
      await expect(growLogTree(transaction, nodeProvider)).rejects.toThrow('tree is missing');
    }));
});

describe('reading the ledger', () => {
  const guards = { clockGuard: {} as never, keyGuard: {} as never }; // nothing is sealed here
  const ledger = ({ database } = store) => ledgerStore({ pool: database.pool, controls: [], ...guards });
  const sought = (...sessions: string[]) => ({
    chains: sessions.map((session) => ({ tenant, session: session as SessionId })),
    sets: [],
  });

  it('returns where each known chain ends', async () => {
    await store.insert('session_heads', { session_id: 'bare', lamport_clock: 0, receipt_hash: '', issued_at: null });
    const { heads, epoch } = await ledger().read(sought('s', 'bare', 'unknown'));
    const messages = heads.map(({ session, lamport, receiptHash, issuedAt }) => [
      session,
      lamport,
      receiptHash,
      issuedAt,
    ]);
    expect(messages.sort()).toEqual([
      ['bare', 0, null, null],
      ['s', 6, digest(9), instant(0)],
    ]);
    expect(epoch).toEqual({ mark: expect.any(Number), timeline: expect.stringMatching(/^[0-9A-F]{8}$/) });
    expect((await ledger().read(sought() as never)).heads).toEqual([]);
  });

  it('under locks leaves no lock behind, with or without a decision', async () => {
    const locked = async (decide: () => { write: null }) => ledger().underLocks(sought('s'), { alone: true }, decide);
    for (let nth = 0; nth < 30; nth += 1)
      expect(await locked(() => ({ write: null }))).toEqual({ write: null, first: 0 });
    const failing = () => {
      throw new Error('undecided');
    };
    for (let nth = 0; nth < 30; nth += 1) await expect(locked(failing)).rejects.toThrow('undecided');
    expect(store.database.pool.idleCount).toBe(store.database.pool.totalCount);
    expect(store.database.pool.totalCount).toBeGreaterThan(0);
  });

  it('fails when the migrations were not applied', () =>
    onItsOwn(async (own) => {
      await own.client.query('DELETE FROM controls');
      await expect(ledger(own).read(sought('s') as never)).rejects.toThrow('migrations');
    }));
});
