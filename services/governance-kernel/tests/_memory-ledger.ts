import { nodeProvider } from '@countersign/crypto/node';
import { createSigner, generateSigningKey } from '@countersign/crypto/signing';
import type { OutgoingEvent } from '@countersign/messaging';
import { LedgerBatch } from '../src/ledger/batch.ts';
import type { LedgerEntry } from '../src/ledger/commit.ts';
import type { Change, Wanted } from '../src/ledger/control.ts';
import type { SealedEntry } from '../src/ledger/statement.ts';

const signer = createSigner(generateSigningKey().privateKeyPem);

/** A ledger in memory. A batch reads the rows of earlier batches, but only the sets that its entries want. */
export class MemoryLedger {
  readonly log: SealedEntry[] = [];
  readonly events: OutgoingEvent[] = [];
  /** The committed batches, each with its number of entries. */
  readonly batches: { entries: number; batch: LedgerBatch }[] = [];
  rows: Change[];

  constructor(rows: Change[]) {
    this.rows = rows;
  }

  of<Row>(control: { idOf(row: Row): string }): Row[] {
    return this.rows.filter((one) => (one.control as unknown) === control).map(({ row }) => row as Row); // filtered by control
  }

  async commit(entries: readonly LedgerEntry<unknown>[]): Promise<PromiseSettledResult<unknown>[]> {
    const wants = new Set(entries.flatMap((entry) => entry.wants.map(nameOf)));
    const chains = new Set(entries.map(({ chain }) => `${chain.tenant} ${chain.session}`));
    const head = ({ tenant, session }: LedgerEntry<unknown>['chain']) => {
      if (!chains.has(`${tenant} ${session}`)) throw new Error('this chain was not named');
      return { lamport: this.log.length, receiptHash: null, issuedAt: null };
    };
    const rows = (sought: Wanted) => {
      if (!wants.has(nameOf(sought))) throw new Error(`${nameOf(sought)} was not requested`);
      const found = this.rows.filter(({ control, row }) => {
        return control === sought.control && control.setsOf(row).includes(sought.set);
      });
      return found.map(({ row }) => row);
    };
    const batch = new LedgerBatch({ head, rows }, { provider: nodeProvider, signer });
    this.batches.push({ entries: entries.length, batch });
    const concluded = entries.map((entry) => tried(() => entry.conclude(batch)));
    this.log.push(...batch.sealed);
    this.events.push(...batch.events);
    for (const change of batch.changes) this.#apply(change);
    return concluded.map((one) =>
      one.status === 'fulfilled' ? tried(() => one.value((entry) => this.log.indexOf(entry))) : one,
    );
  }

  #apply(change: Change): void {
    const idOf = ({ control, row }: Change) => `${control.name} ${control.idOf(row)}`;
    this.rows = this.rows.filter((one) => idOf(one) !== idOf(change));
    if (change.kind === 'put') this.rows.push(change);
  }
}

const nameOf = ({ control, set }: Wanted) => `${control.name} ${set}`;

function tried<Result>(act: () => Result): PromiseSettledResult<Result> {
  try {
    return { status: 'fulfilled', value: act() };
  } catch (reason) {
    return { status: 'rejected', reason };
  }
}
