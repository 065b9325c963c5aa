import { approvalsOf } from './find-approval.ts';
import type { KernelClient } from './kernel-clients.ts';
import { malformed, throwKernelError } from './kernel-error.ts';

/**
 * Withdraws each pending or usable approval that a principal requested in a session. Requests of other principals in
 * the session are skipped, since the kernel lets a principal withdraw only its own. A repetition changes nothing.
 * Throws KernelError.
 */
export async function withdrawApprovals(
  client: Pick<KernelClient, 'listApprovals' | 'withdrawApproval'>,
  { sessionId, requestedBy, reason }: { sessionId: string; requestedBy: string; reason: string },
): Promise<void> {
  for await (const { approval_id, requested_by, state } of approvalsOf(client, { sessionId })) {
    if (requested_by !== requestedBy) continue;
    if (state !== 'pending' && state !== 'approved') continue;
    const params = { approval_id };
    const answer = await client.withdrawApproval({ params, body: { reason } }).catch(throwKernelError);
    if (answer.kind === 'refused') throw malformed(`The kernel answered ${answer.status}`);
  }
}
