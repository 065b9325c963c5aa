import { isAppError, type WorkspaceId } from '@countersign/contracts';
import type { Approval } from '@countersign/contracts/governance-kernel';
import type { WorkspaceClient } from '../api/clients.ts';
import { signWithPasskey } from '../passkey/sign-with-passkey.ts';

export type Vote = { decision: 'approve' | 'deny'; reason: string };
type Input = { client: WorkspaceClient; workspaceId: WorkspaceId; approval: Approval };

/**
 * Casts a vote on the call that was shown, and returns the approval with this vote. A passkey signs the challenge of
 * the kernel. A person without a passkey sends the hash of what they saw. The kernel decides which of the two it
 * requires.
 */
export async function castVote(
  { client, workspaceId, approval }: Input,
  { decision, reason }: Vote,
): Promise<Approval> {
  const proof = await proofOf(client, approval, decision);
  const { body } = await client.resolveApproval({
    params: { id: workspaceId, approval_id: approval.approval_id },
    body: { decision, ...(reason === '' ? {} : { reason }), ...proof },
    headers: proof === null ? { 'if-match': `"${approval.ceremony_hash}"` } : {},
  });
  return body;
}

/** The passkey's answer to the kernel's challenge. `null` without a passkey, or where passkeys cannot be used. */
async function proofOf(client: WorkspaceClient, approval: Approval, decision: Vote['decision']) {
  const challenge = await challengeOf(client, approval, decision);
  if (challenge === null) return null;
  const { challenge_id, statement, options } = challenge;
  const isWhatWasShown =
    statement.ceremony_hash === approval.ceremony_hash &&
    statement.judged_hash === approval.judged_hash &&
    statement.decision === decision;
  if (!isWhatWasShown) throw new Error('The challenge does not match the call shown here');
  return { challenge_id, assertion: await signWithPasskey(options) };
}

/** The longest time that the kernel allows for an answer. */
const answeredWithinMs = 300_000;
const withoutPasskey: ReadonlySet<string> = new Set(['PASSKEY_REQUIRED', 'PASSKEYS_UNAVAILABLE']);

async function challengeOf(client: WorkspaceClient, approval: Approval, decision: Vote['decision']) {
  const { approval_id, ceremony_hash } = approval;
  try {
    const body = {
      decision,
      expected_ceremony_hash: ceremony_hash,
      method: 'passkey',
      ttl_ms: answeredWithinMs,
    } as const;
    return (await client.challengeApproval({ params: { approval_id }, body })).body;
  } catch (error) {
    if (isAppError(error) && withoutPasskey.has(error.code)) return null;
    throw error;
  }
}
