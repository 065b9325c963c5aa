import { inOnePacket, isUnavailable } from '@countersign/database';
import { instantOf, type Digest, type SessionId, type TenantId } from '@countersign/contracts';
import { insertEvents } from '@countersign/messaging';
import type pg from 'pg';
import type { LedgerClockGuard } from '../ledger/clock-guard.ts';
import { StaleFacts, type LedgerStore, type LedgerWrite, type Sought } from '../ledger/commit.ts';
import type { AnyControl, StoredRow } from '../ledger/control.ts';
import { unavailable } from '../ledger/group-commit.ts';
import type { KeyFault } from '../ledger/key-fault.ts';
import type { KeyGuard } from '../ledger/key-guard.ts';
import type { ReadFacts } from '../ledger/known-facts.ts';
import { textArray } from './binary-array.ts';
import * as sql from './ledger-sql.ts';

type Guards = { clockGuard: LedgerClockGuard; keyGuard: KeyGuard };
type Deps = { pool: pg.Pool; controls: readonly AnyControl[] } & Guards;
type Appended = { first: string };
type HeadRow = {
  tenant_id: TenantId;
  session_id: SessionId;
  lamport_clock: number;
  receipt_hash: Digest | '';
  issued_at: string | null;
  quiet: string[];
};
type ReadRow = { mark: string | null; timeline: string; heads: HeadRow[] | null } & Record<string, StoredRow[] | null>;

/** The ledger's tables. A read is one statement, and so is an append. `underLocks` does both in one transaction. */
export function ledgerStore({ pool, controls, ...guards }: Deps): LedgerStore {
  const statement = sql.readStatement(controls);
  const read = async (client: pg.Pool | pg.PoolClient, sought: Sought) => {
    const { rows } = await client.query<ReadRow>({ ...statement, values: sql.readParameters(controls, sought) });
    return factsOf(controls, sought, rows[0]);
  };
  return {
    read: (sought) => translatingErrors(() => read(pool, sought)),
    append: (write) =>
      translatingErrors(() =>
        guarded(guards, write, async (appending) => placeOf((await pool.query<Appended>(appending)).rows)),
      ),
    underLocks: (sought, { alone }, decide) =>
      translatingErrors(async () => {
        const client = await pool.connect();
        try {
          const facts = await lockAndRead(client, { controls, sought, alone, read });
          const made = decide(facts);
          const first = await writeAndCommit(client, made.write, guards);
          client.release();
          return { ...made, first };
        } catch (error) {
          await abandon(client, error);
          throw error;
        }
      }),
  };
}

type Locking = {
  controls: readonly AnyControl[];
  sought: Sought;
  alone: boolean;
  read(client: pg.PoolClient, sought: Sought): Promise<ReadFacts>;
};

/**
 * The statements are sent together and run in the order of this code. The read sees all commits before the last lock.
 */
async function lockAndRead(client: pg.PoolClient, { controls, sought, alone, read }: Locking): Promise<ReadFacts> {
  const chains = [sought.chains.map(({ tenant }) => tenant), sought.chains.map(({ session }) => session)].map(
    textArray,
  );
  const sent = inOnePacket(client, () => [
    client.query('BEGIN'),
    client.query({ ...sql.lockControls, values: [alone] }),
    client.query({ ...sql.lockChains, values: chains }),
    ...sql.rowLocks(controls, sought.sets).map((lock) => client.query(lock)),
    read(client, sought),
  ]);
  await Promise.all(sent);
  return (await sent.at(-1)) as ReadFacts; // the result of the last statement
}

/** COMMIT follows the writes without waiting for them. After a failed write, PostgreSQL answers it with ROLLBACK. */
async function writeAndCommit(client: pg.PoolClient, write: LedgerWrite | null, guards: Guards): Promise<number> {
  if (write !== null) return guarded(guards, write, (appending) => sendWrites(client, write, appending));
  await client.query('ROLLBACK');
  return 0;
}

async function sendWrites(client: pg.PoolClient, { batch: { events } }: LedgerWrite, appending: Appending) {
  const announcing = events.length === 0 ? [] : [insertEvents(events)];
  const [commit, appended, ...announced] = inOnePacket(client, () => {
    const written = client.query<Appended>(appending);
    const pending = announcing.map((statement) => client.query(statement));
    return [client.query('COMMIT'), written, ...pending] as const;
  });
  const [{ command }, { rows }] = await Promise.all([commit, appended, ...announced]);
  if (command !== 'COMMIT') throw new Error('The transaction was rolled back');
  return placeOf(rows);
}

type Appending = pg.QueryConfig & Pick<typeof sql.append, 'name' | 'text'>;

/**
 * The database refuses a batch that is dated far from its own clock, or signed with an invalid key. The error contains
 * the database's clock or the fault of the key.
 */
async function guarded<Result>(
  { clockGuard, keyGuard }: Guards,
  write: LedgerWrite,
  send: (appending: Appending) => Promise<Result>,
): Promise<Result> {
  const beforeMs = clockGuard.datedMs(write.batch.chains);
  try {
    const { name, text, valuesOf } = sql.append;
    const made = await send({ name, text, values: valuesOf({ ...write, datedMs: beforeMs }) });
    clockGuard.noteNear();
    keyGuard.noteCounting('receipts');
    return made;
  } catch (error) {
    const fault = keyFaultIn(error);
    if (fault !== null) throw keyGuard.refusalOf('receipts', fault);
    const databaseMs = databaseMsIn(error);
    if (databaseMs === null) throw error;
    clockGuard.assertNearIn({ beforeMs, databaseMs, afterMs: clockGuard.nowMs() });
    throw new StaleFacts('The batch reached the database too long after its date', { cause: error });
  }
}

/** Raised by `hold_clock` in ledger-functions.sql, with the clock as its detail. */
function databaseMsIn(error: unknown): number | null {
  if (!(error instanceof Error && 'code' in error && error.code === 'CS002' && 'detail' in error)) return null;
  return Number(error.detail);
}

/** Raised by `hold_append` in ledger-functions.sql, with the fault as its detail. */
function keyFaultIn(error: unknown): KeyFault | null {
  if (!(error instanceof Error && 'code' in error && error.code === 'CS003' && 'detail' in error)) return null;
  const { detail } = error;
  return detail === 'unknown' || detail === 'early' || detail === 'revoked' ? detail : 'ended';
}

function placeOf(rows: readonly Appended[]): number {
  if (rows[0] === undefined) throw new Error('The ledger returned no place in the log');
  return Number(rows[0].first);
}

function factsOf(controls: readonly AnyControl[], { chains, sets }: Sought, row: ReadRow | undefined): ReadFacts {
  if (row === undefined || row.mark === null) throw new Error('The migrations of the kernel were not applied');
  const heads = (row.heads ?? []).map(({ tenant_id, session_id, lamport_clock, receipt_hash, issued_at, quiet }) => ({
    tenant: tenant_id,
    session: session_id,
    lamport: lamport_clock,
    receiptHash: receipt_hash === '' ? null : receipt_hash,
    issuedAt: issued_at === null ? null : instantOf(new Date(issued_at)),
    quiet,
  }));
  const rows = controls.map(
    (control) => [control.name, (row[control.name] ?? []).map((stored) => control.rowOf(stored))] as const,
  );
  const epoch = { mark: Number(row.mark), timeline: row.timeline };
  return { epoch, chains, heads, sets, rows: new Map(rows) };
}

async function abandon(client: pg.PoolClient, cause: unknown): Promise<void> {
  // A broken connection rolls back by itself, and the pool must not reuse it.
  const broken =
    isUnavailable(cause) ||
    (await client.query('ROLLBACK').then(
      () => false,
      () => true,
    ));
  client.release(broken);
}

async function translatingErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (isStale(error)) throw new StaleFacts('A version changed after it was read', { cause: error });
    throw isUnavailable(error) ? unavailable(error) : error;
  }
}

/** Raised by `refuse_stale` in ledger-functions.sql. */
function isStale(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'CS001';
}
