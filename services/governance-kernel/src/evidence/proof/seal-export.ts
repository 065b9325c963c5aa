import { instantOf, sha256Of, type Digest, type PrincipalId, type TenantId } from '@countersign/contracts';
import {
  packAction,
  type HeadStatement,
  type PackStatement,
  type PeriodStatement,
} from '@countersign/contracts/governance-kernel';
import { canonicalize, type CryptoProvider } from '@countersign/crypto';
import { announcementStatement } from '@countersign/receipts';
import type { GroupCommit } from '../../ledger/group-commit.ts';
import { headsSession } from '../../ledger/own-sessions.ts';
import type { SealedEntry } from '../../ledger/statement.ts';

type ExportDeps = {
  ledger: GroupCommit;
  provider: CryptoProvider;
  clock: () => Date;
  newUlid: (nowMs: number) => string;
};

export type SealedExport = { entry: SealedEntry; logIndex: number };

/** The statement of an export: the end of a session, or the log's receipts of a period. */
type ExportStatement =
  | { kind: 'head'; facts: HeadStatement }
  | { kind: 'period'; facts: PeriodStatement }
  /** Its receipt has the kind `period`, since older kernels on the same ledger do not support a kind `pack`. */
  | { kind: 'pack'; facts: PackStatement; resource: string };

/**
 * Seals the content of an export as a leaf of the log. A verifier can then detect omissions without having seen these
 * receipts before. `as_of` is an instant before the log was read, so everything sealed by then is included.
 */
export async function sealExport(
  { ledger, provider, clock, newUlid }: ExportDeps,
  { tenant, by, statement: message }: { tenant: TenantId; by: PrincipalId; statement: ExportStatement },
): Promise<SealedExport> {
  const nowMs = clock().getTime();
  const at = instantOf(nowMs);
  const session = headsSession(at);
  const statement = announcementStatement(provider, {
    ulid: newUlid(nowMs),
    at,
    tenant,
    principal: by,
    session,
    kind: message.kind === 'head' ? 'head' : 'period',
    ...subjectOf(message),
    tool: null,
    effectLevel: 'E1',
    verdict: 'ALLOW',
    reasonCode: 'ALLOWED',
    argsHash: statementHash(provider, message.facts),
    policyHash: null,
    policyEpoch: 0,
    approvalId: null,
    facts: message.facts,
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
  return sha256Of(provider, canonicalize(facts));
}

function subjectOf(exportStatement: ExportStatement): { action: string; resource: string } {
  switch (exportStatement.kind) {
    case 'head':
      return { action: 'session.export', resource: `session:${exportStatement.facts.session_id}` };
    case 'period':
      return { action: 'period.export', resource: `period:${exportStatement.facts.from}/${exportStatement.facts.to}` };
    case 'pack':
      return { action: packAction, resource: exportStatement.resource };
  }
}
