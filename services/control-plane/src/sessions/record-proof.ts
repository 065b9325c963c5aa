import type { ProofMethod } from '@countersign/contracts';
import type { Context } from '../context.ts';
import { recordAudit } from '../store/audit.ts';
import { markProven, type StoredSession } from '../store/sessions.ts';
import { codeInvalid } from './code-invalid.ts';

/**
 * Records that the person of a session has just proven presence. Throws CODE_INVALID when the session ended in the
 * meantime.
 */
export async function recordProof(
  context: Pick<Context, 'now' | 'transaction'>,
  session: StoredSession,
  { method, requestId }: { method: ProofMethod; requestId: string },
): Promise<StoredSession> {
  const provenAt = context.now();
  const methods = [...new Set([...session.methods, method])];
  const { id: subject, userId } = session;
  await context.transaction(async (tx) => {
    if (!(await markProven(tx, { ...session, methods }, provenAt))) throw codeInvalid();
    const act = { action: 'session.proven', actor: userId, verdict: 'allow', details: { method } } as const;
    await recordAudit(tx, { ...act, scope: userId, subject, requestId }, provenAt);
  });
  return { ...session, methods, provenAt };
}
