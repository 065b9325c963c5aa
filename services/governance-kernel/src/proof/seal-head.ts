import type { Digest, Instant, PrincipalId, SessionId, TenantId } from '@countersign/contracts';
import type { HeadStatement } from '@countersign/contracts/governance-kernel';
import { canonicalize, digestOf, type CryptoProvider } from '@countersign/crypto';
import { announcementStatement } from '@countersign/receipts';
import type { GroupCommit } from '../ledger/group-commit.ts';
import type { SealedEntry } from '../ledger/statement.ts';

type HeadParts = {
  ledger: GroupCommit;
  provider: CryptoProvider;
  clock: () => Date;
  newUlid: (nowMs: number) => string;
};

/** Where a tenant's head statements stand: in the chain that they speak of they would move the very end that they name. */
const headsSession = 'heads' as SessionId; // within its schema

/**
 * Seals where a session ends, as a leaf of the log like any other: from then on a cut end shows, without anybody having known the head.
 * `head.as_of` is an instant from before the end was read, so that whatever had been sealed by then is within it.
 */
export async function sealHead(
  { ledger, provider, clock, newUlid }: HeadParts,
  { tenant, by, head }: { tenant: TenantId; by: PrincipalId; head: HeadStatement },
): Promise<{ entry: SealedEntry; logIndex: number }> {
  const nowMs = clock().getTime();
  const statement = announcementStatement(provider, {
    ulid: newUlid(nowMs),
    at: new Date(nowMs).toISOString() as Instant, // toISOString writes exactly this form
    tenant,
    principal: by,
    session: headsSession,
    kind: 'head',
    action: 'session.export',
    tool: null,
    resource: `session:${head.session_id}`,
    effectLevel: 'E1',
    verdict: 'ALLOW',
    reasonCode: 'ALLOWED',
    argsHash: digestOf(provider, canonicalize(head)) as Digest, // digestOf writes exactly this form
    policyHash: null,
    policyEpoch: 0,
    approvalId: null,
    facts: head,
  });
  return ledger.submit({
    chain: { tenant, session: headsSession },
    wants: [],
    conclude: (batch) => {
      const entry = batch.seal(statement);
      return (placeOf) => ({ entry, logIndex: placeOf(entry) });
    },
  });
}
