import { Instant, type AuditVerdict } from '@countersign/contracts';
import { canonicalize, type JsonValue } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { auditHash } from '@countersign/verifier';
import { headOf, type AuditFacts, type AuditHead, type AuditRow } from './entry.ts';

/** An attempted action, its actor and its result. */
export type AuditAct = {
  action: string;
  actor: string;
  verdict: AuditVerdict;
  /** `ok` by default. */
  reason?: string;
  subject?: string | null;
  details?: { [member: string]: JsonValue };
  requestId?: string | null;
};

/** The end of one chain, in a transaction of its service. */
type ChainEnd = {
  /** Locks the head until the transaction ends, and returns it. Throws when the chain does not exist. */
  lockHead(): Promise<AuditHead>;
  /** Inserts the entry, and moves the head to it. */
  append(row: AuditRow): Promise<void>;
  /** The entry in the form of its service. All its members are hashed. */
  contentOf(facts: AuditFacts): { [member: string]: JsonValue };
};

/** Appends to a chain in the caller's transaction. Call it late, since it locks the head until the commit. */
export async function recordEntry(
  { lockHead, append, contentOf }: ChainEnd,
  act: AuditAct,
  { id, now }: { id: string; now: Date },
): Promise<void> {
  const head = headOf(await lockHead());
  const facts: AuditFacts = {
    id,
    seq: head.seq + 1,
    action: act.action,
    actor: act.actor,
    verdict: act.verdict,
    reason: act.reason ?? 'ok',
    subject: act.subject ?? null,
    details: act.details ?? {},
    requestId: act.requestId ?? null,
    createdAt: Instant.parse(now.toISOString()),
    prevHash: head.hash,
  };
  const hash = auditHash(nodeProvider, contentOf(facts));
  await append({ ...facts, details: canonicalize(facts.details), createdAt: now, hash });
}
