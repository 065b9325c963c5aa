import { isAppError } from '@countersign/contracts';
import { nodeProvider } from '@countersign/crypto/node';
import { createSigner, generateSigningKey } from '@countersign/crypto/signing';
import { eventFactory } from '@countersign/messaging';
import { LedgerBatch } from '../src/ledger/batch.ts';
import type { LedgerEntry } from '../src/ledger/commit.ts';
import type { Change } from '../src/ledger/control.ts';
import { GroupCommit } from '../src/ledger/group-commit.ts';
import { chainName } from '../src/ledger/statement.ts';

export const ulid = '01KAZS00000000000000000000';
const sealer = { provider: nodeProvider, signer: createSigner(generateSigningKey().privateKeyPem) };

/** What an entry did. */
export type Written = ReturnType<typeof writtenBy>;

/** A ledger over these rows, with a clock that stands: an entry sees its own chain and what it wants, and asks for nothing else. */
export function ledgerOver(nowMs: number, ...rows: Change[]) {
  const batches: LedgerBatch[] = [];
  const ledger = new GroupCommit((entries) =>
    Promise.allSettled(
      entries.map((entry) => {
        const batch = batchFor(entry, rows);
        batches.push(batch);
        return new Promise((resolve) => resolve(entry.conclude(batch)(() => 0)));
      }),
    ),
  );
  const newEvent = eventFactory({ source: '/governance-kernel', clock: { now: () => nowMs } });
  const parts = { ledger, provider: nodeProvider, clock: () => new Date(nowMs), newUlid: () => ulid, newEvent };
  return { parts, written: () => batches.map(writtenBy) };
}

function batchFor({ chain, wants }: LedgerEntry<unknown>, rows: readonly Change[]): LedgerBatch {
  const sets = wants.map(({ control, key }) => `${control.name}\n${control.keyText(key)}`);
  const view = {
    head: (of: typeof chain) => {
      if (chainName(of) !== chainName(chain)) throw new Error('this chain is of another entry');
      return { lamport: 0, receiptHash: null, issuedAt: null };
    },
    rows: ({ control, set }: (typeof wants)[number]) => {
      if (!sets.includes(`${control.name}\n${set}`)) throw new Error(`nobody wanted ${control.name} ${set}`);
      return rows
        .filter((one) => one.control === control && control.setsOf(one.row).includes(set))
        .map(({ row }) => row);
    },
  };
  return new LedgerBatch(view, sealer);
}

function writtenBy({ sealed, changes, events }: LedgerBatch) {
  return {
    records: sealed.map(({ recordText }) => JSON.parse(recordText ?? 'null') as SealedRecord),
    rows: changes.map(({ control, row }) => [control.name, row]),
    events: events.map(({ event: { type, data } }) => [type, data]),
  };
}

type SealedRecord = { intent: { facts: object } } & Record<string, unknown>;

/** What a refusal tells its caller. */
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
