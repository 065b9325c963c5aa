import type { Digest, Instant, PrincipalId, TenantId } from '@countersign/contracts';
import {
  packAction,
  type HeadStatement,
  type PackStatement,
  type PeriodStatement,
} from '@countersign/contracts/governance-kernel';
import { canonicalize, digestOf, type CryptoProvider } from '@countersign/crypto';
import { announcementStatement } from '@countersign/receipts';
import type { GroupCommit } from '../ledger/group-commit.ts';
import { headsSession } from '../ledger/own-sessions.ts';
import type { SealedEntry } from '../ledger/statement.ts';

type ExportParts = {
  ledger: GroupCommit;
  provider: CryptoProvider;
  clock: () => Date;
  newUlid: (nowMs: number) => string;
};

export type SealedExport = { entry: SealedEntry; logIndex: number };

/** The statement of an export: the end of a session, or the receipts of the log in a period. */
type ExportStatement =
  | { kind: 'head'; facts: HeadStatement }
  | { kind: 'period'; facts: PeriodStatement }
  /** Kernels of earlier versions share the ledger, and they read no other kind. */
  | { kind: 'pack'; facts: PackStatement; resource: string };

/**
 * Seals the content of an export, as a leaf of the log like any other: from then on an omission is detectable without
 * earlier knowledge. `as_of` of the statement is an instant from before the log was read, so that whatever had been
 * sealed by then is within it.
 */
export async function sealExport(
  { ledger, provider, clock, newUlid }: ExportParts,
  { tenant, by, said }: { tenant: TenantId; by: PrincipalId; said: ExportStatement },
): Promise<SealedExport> {
  const nowMs = clock().getTime();
  const at = new Date(nowMs).toISOString() as Instant; // toISOString writes exactly this form
  const session = headsSession(at);
  const statement = announcementStatement(provider, {
    ulid: newUlid(nowMs),
    at,
    tenant,
    principal: by,
    session,
    kind: said.kind === 'head' ? 'head' : 'period',
    ...subjectOf(said),
    tool: null,
    effectLevel: 'E1',
    verdict: 'ALLOW',
    reasonCode: 'ALLOWED',
    argsHash: statementHash(provider, said.facts),
    policyHash: null,
    policyEpoch: 0,
    approvalId: null,
    facts: said.facts,
  });
  return ledger.submit({
    chain: { tenant, session },
    wants: [],
    conclude: (batch) => {
      const entry = batch.seal(statement);
      return (placeOf) => ({ entry, logIndex: placeOf(entry) });
    },
  });
}

/** The args hash in the receipt of a statement. */
export function statementHash(provider: CryptoProvider, facts: ExportStatement['facts']): Digest {
  return digestOf(provider, canonicalize(facts)) as Digest; // digestOf writes exactly this form
}

function subjectOf(said: ExportStatement): { action: string; resource: string } {
  switch (said.kind) {
    case 'head':
      return { action: 'session.export', resource: `session:${said.facts.session_id}` };
    case 'period':
      return { action: 'period.export', resource: `period:${said.facts.from}/${said.facts.to}` };
    case 'pack':
      return { action: packAction, resource: said.resource };
  }
}
