import { isAppError } from '@countersign/contracts';
import { nodeProvider } from '@countersign/crypto/node';
import { eventFactory } from '@countersign/messaging';
import type { LedgerBatch } from '../src/ledger/batch.ts';
import type { Change } from '../src/ledger/control.ts';
import { GroupCommit } from '../src/ledger/group-commit.ts';
import { MemoryLedger } from './_memory-ledger.ts';

export const ulid = '01KAZS00000000000000000000';

/** The records, rows and events that a batch wrote. */
export type Written = ReturnType<typeof writtenBy>;

/** A ledger over these rows with a fixed clock. A batch can read only the chains and sets that its entries name. */
export function ledgerOver(nowMs: number, ...rows: Change[]) {
  const memory = new MemoryLedger(rows);
  const ledger = new GroupCommit((entries) => memory.commit(entries));
  const newEvent = eventFactory({ source: '/governance-kernel', clock: { now: () => nowMs } });
  const deps = {
    ledger,
    provider: nodeProvider,
    clock: () => new Date(nowMs),
    newUlid: () => ulid,
    newEvent,
    config: { priceCurrency: null },
  };
  return { parts: deps, written: () => memory.batches.map(({ batch }) => writtenBy(batch)) };
}

function writtenBy({ sealed, changes, events }: LedgerBatch) {
  return {
    records: sealed.map(({ recordText }) => JSON.parse(recordText ?? 'null') as SealedRecord),
    rows: changes.map(({ control, row }) => [control.name, row]),
    events: events.map(({ event: { type, data } }) => [type, data]),
  };
}

type SealedRecord = { intent: { facts: object } } & Record<string, unknown>;

/** The error of a call that must be refused. */
export async function refusalTo(asking: Promise<unknown>): Promise<object> {
  try {
    await asking;
  } catch (error) {
    if (!isAppError(error)) throw error;
    const { code, message, param, details, reasonCode } = error;
    return { code, message, param, details, reasonCode };
  }
  throw new Error('nothing was refused');
}
