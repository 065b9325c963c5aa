import type { Digest, Instant, PrincipalId, TenantId } from '@countersign/contracts';
import type { HeadStatement, PeriodStatement } from '@countersign/contracts/governance-kernel';
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

/** What an export says of itself: where a session ended, or what the log held of a period. */
type ExportStatement = { kind: 'head'; facts: HeadStatement } | { kind: 'period'; facts: PeriodStatement };

/**
 * Seals what an export holds, as a leaf of the log like any other: from then on what is left out shows, without anybody having known it.
 * `as_of` of the statement is an instant from before the log was read, so that whatever had been sealed by then is within it.
 */
export async function sealExport(
  { ledger, provider, clock, newUlid }: ExportParts,
  { tenant, by, said }: { tenant: TenantId; by: PrincipalId; said: ExportStatement },
): Promise<{ entry: SealedEntry; logIndex: number }> {
  const nowMs = clock().getTime();
  const at = new Date(nowMs).toISOString() as Instant; // toISOString writes exactly this form
  const session = headsSession(at);
  const statement = announcementStatement(provider, {
    ulid: newUlid(nowMs),
    at,
    tenant,
    principal: by,
    session,
    kind: said.kind,
    ...subjectOf(said),
    tool: null,
    effectLevel: 'E1',
    verdict: 'ALLOW',
    reasonCode: 'ALLOWED',
    argsHash: digestOf(provider, canonicalize(said.facts)) as Digest, // digestOf writes exactly this form
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

function subjectOf({ kind, facts }: ExportStatement): { action: string; resource: string } {
  switch (kind) {
    case 'head':
      return { action: 'session.export', resource: `session:${facts.session_id}` };
    case 'period':
      return { action: 'period.export', resource: `period:${facts.from}/${facts.to}` };
  }
}
