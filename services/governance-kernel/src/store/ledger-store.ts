import { inOnePacket, isUnavailable } from '@countersign/database';
import type { Digest } from '@countersign/contracts';
import type pg from 'pg';
import { LedgerBatch, chainName, type BatchView } from '../ledger/batch.ts';
import { unavailable, type TransactBatch } from '../ledger/group-commit.ts';
import type { BatchReads } from '../ledger/reads.ts';
import type { Sealer } from '../ledger/seal.ts';
import type { ChainHead } from '../ledger/statement.ts';
import { textArray } from './binary-array.ts';
import { answersKeptMs } from './idempotency-store.ts';
import * as sql from './ledger-sql.ts';
import {
  approvalRow,
  budgetRow,
  dispatchRow,
  idempotencyRow,
  policyHead,
  toolRow,
  type ApprovalDriverRow,
  type BudgetDriverRow,
  type DispatchDriverRow,
  type IdempotencyDriverRow,
  type ToolDriverRow,
} from './locked-rows.ts';
import { sendBatch } from './ledger-write.ts';

/** The kernel's one transaction: lock, read, conclude, write, commit. */
export function ledgerTransaction({
  pool,
  sealer,
  clock,
}: {
  pool: pg.Pool;
  sealer: Sealer;
  clock: () => Date;
}): TransactBatch {
  return async (reads, work) => {
    const client = await pool.connect().catch((error: unknown) => Promise.reject(unavailable(error)));
    try {
      const batch = new LedgerBatch(await lockAndRead(client, reads, clock()), sealer);
      work(batch);
      await writeAndCommit(client, batch, clock());
      client.release();
    } catch (error) {
      await abandon(client, error);
      throw isUnavailable(error) ? unavailable(error) : error;
    }
  };
}

/** COMMIT follows the writes without waiting for them: after one that failed, PostgreSQL answers it with ROLLBACK. */
async function writeAndCommit(client: pg.PoolClient, batch: LedgerBatch, now: Date): Promise<void> {
  const [commit, ...writes] = inOnePacket(client, () => {
    const sent = sendBatch(client, batch, now);
    return [client.query('COMMIT'), ...sent] as const;
  });
  const [{ command }] = await Promise.all([commit, ...writes]);
  if (command !== 'COMMIT') throw new Error('The transaction was rolled back');
}

async function abandon(client: pg.PoolClient, cause: unknown): Promise<void> {
  // A broken connection rolls back by itself; the pool must not hand it out again.
  const broken =
    isUnavailable(cause) ||
    (await client.query('ROLLBACK').then(
      () => false,
      () => true,
    ));
  client.release(broken);
}

/** Sent together, run in this order: each reading sees what was committed when the lock was won. */
async function lockAndRead(client: pg.PoolClient, reads: BatchReads, now: Date): Promise<BatchView> {
  const reading = inOnePacket(
    client,
    () =>
      [
        lockLog(client),
        readControls(client, reads),
        readTools(client, reads),
        readDispatches(client, reads),
        readAnswers(client, reads, now),
      ] as const,
  );
  const [log, controls, tools, dispatches, idempotency] = await Promise.all(reading);
  return { log, ...controls, tools, dispatches, idempotency };
}

async function lockLog(client: pg.PoolClient): Promise<BatchView['log']> {
  // Three statements in one message: node-postgres then answers with an array, which its types do not know.
  const answers = (await client.query(sql.lockLogHead)) as unknown as pg.QueryResult<{
    size: string;
    frontier: Buffer[];
  }>[];
  const log = answers.at(-1)?.rows[0];
  if (log === undefined) throw new Error('The log head is missing; the migrations of the kernel were not applied');
  return { size: Number(log.size), hashes: log.frontier.map((hash) => new Uint8Array(hash)) };
}

type Controls = {
  heads: [string, string, number, Digest][] | null;
  fences: [string, string][] | null;
  policies: Parameters<typeof policyHead>[0][] | null;
  budgets: BudgetDriverRow[] | null;
  approvals: ApprovalDriverRow[] | null;
};

async function readControls(client: pg.PoolClient, reads: BatchReads) {
  const { rows } = await client.query<Controls>({
    name: 'ledger-read-controls',
    text: sql.readControls,
    values: [
      textArray(reads.chains.map(({ tenant }) => tenant)),
      textArray(reads.chains.map(({ session }) => session)),
      textArray(reads.fences),
      textArray(reads.policies),
      textArray(reads.budgetTenants),
      textArray(reads.approvalIds),
      textArray(reads.approvalIntents),
    ],
  });
  const [controls] = rows;
  const heads = (controls?.heads ?? []).map(([tenant, session, lamport, receiptHash]): [string, ChainHead] => [
    chainName({ tenant, session }),
    { lamport, receiptHash },
  ]);
  return {
    heads: new Map(heads),
    fences: new Map(controls?.fences ?? []),
    policies: new Map((controls?.policies ?? []).map((row) => [row[0], policyHead(row)])),
    budgets: (controls?.budgets ?? []).map(budgetRow),
    approvals: (controls?.approvals ?? []).map(approvalRow),
  };
}

async function readTools(client: pg.PoolClient, { tools }: BatchReads) {
  if (tools.length === 0) return [];
  const { rows } = await client.query<ToolDriverRow>({
    name: 'ledger-read-tools',
    text: sql.readTools,
    values: [tools.map(({ serverId }) => serverId), tools.map(({ toolName }) => toolName)],
  });
  return rows.map(toolRow);
}

async function readDispatches(client: pg.PoolClient, { dispatches }: BatchReads) {
  if (dispatches.length === 0) return [];
  const { rows } = await client.query<DispatchDriverRow>({
    name: 'ledger-read-dispatches',
    text: sql.readDispatches,
    values: [dispatches],
  });
  return rows.map(dispatchRow);
}

async function readAnswers(client: pg.PoolClient, { idempotency }: BatchReads, now: Date) {
  if (idempotency.length === 0) return [];
  const { rows } = await client.query<IdempotencyDriverRow>({
    name: 'ledger-read-answers',
    text: sql.readAnswers,
    values: [
      idempotency.map(({ tenant }) => tenant),
      idempotency.map(({ principal }) => principal),
      idempotency.map(({ route }) => route),
      idempotency.map(({ key }) => key),
      new Date(now.getTime() - answersKeptMs),
    ],
  });
  return rows.map(idempotencyRow);
}
