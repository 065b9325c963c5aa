import { setImmediate } from 'node:timers/promises';
import type { Instant, TenantId } from '@countersign/contracts';
import type { PeriodHeader, PeriodSession, PeriodStatement } from '@countersign/contracts/governance-kernel';
import { emptyTally, tallied, tallyOf } from '@countersign/receipts';
import type { SealedEntry } from '../../ledger/statement.ts';
import type { Witnesses } from '../proof/witnesses.ts';
import type { ChainLink } from '../../store/chain-link.ts';
import { linkedCheckpoints, provenExtended } from './linked-checkpoints.ts';
import { periodPages, type PeriodReads } from './period-pages.ts';
import { provenLine, provenLines, type ProofDeps } from './proven-lines.ts';

/** A checkpoint that proves a place in the log. */
type Seen = { tree_size: number; note: string };

type PeriodDeps = ProofDeps & {
  witnesses: Witnesses;
  reads: PeriodReads;
  /** Seals the statement, and waits for a checkpoint that covers it. */
  state(statement: PeriodStatement): Promise<{ sealed: { entry: SealedEntry; logIndex: number }; seen: Seen }>;
};

type Period = { tenant: TenantId; from: Instant; to: Instant };

/**
 * The input of `countersign-verify` for a period: the header, the receipts of one session after the other, and the
 * period statement at the end. The statement is sealed after all lines were sent, and covers what was sent, so an
 * interrupted export has no statement.
 */
export async function* periodLines(
  deps: PeriodDeps,
  { tenant, from, to }: Period,
  log: Pick<PeriodStatement, 'as_of' | 'log_size' | 'log_root'>,
): AsyncGenerator<string> {
  const { provider, witnesses } = deps;
  const format = 'countersign/period-export.v1';
  const linked = await linkedCheckpoints(deps, witnesses.checkpoints);
  const header: PeriodHeader = { format, tenant_id: tenant, from, to, ...linked };
  yield `${JSON.stringify(header)}\n`;
  let tally = emptyTally;
  let session: PeriodSession | null = null;
  for await (const links of periodPages(deps.reads, { issuedAt: from, logIndex: -1 })) {
    yield (await provenLines(deps, links)).map((line) => `${line}\n`).join('');
    for (const link of links) {
      if (session?.session_id !== link.session) {
        if (session !== null) tally = tallied(provider, tally, session);
        session = begun(link);
      } else session = continued(session, link);
    }
    await setImmediate();
  }
  if (session !== null) tally = tallied(provider, tally, session);
  const { sealed, seen } = await deps.state({ from, to, ...tallyOf(provider, tally), ...log });
  const line = await provenLine({ ...deps, witnesses: { sizeFor: () => seen.tree_size } }, sealed);
  const consistency = await provenExtended(deps, { from: witnesses.checkpoints.at(-1), to: seen });
  yield `{"period":${line},"checkpoint":${JSON.stringify(seen.note)},"consistency":${JSON.stringify(consistency)}}\n`;
}

function begun({ session, lamport, receiptHash }: ChainLink): PeriodSession {
  return { session_id: session, first: lamport, last: lamport, receipt_hash: receiptHash };
}

function continued(session: PeriodSession, { lamport, receiptHash }: ChainLink): PeriodSession {
  if (lamport !== session.last + 1) throw new Error('The ledger lacks links of this chain');
  return { ...session, last: lamport, receipt_hash: receiptHash };
}
