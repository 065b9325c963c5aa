import type { Approval } from '@countersign/contracts/governance-kernel';
import type { KernelClient } from './kernel-clients.ts';
import { malformed, throwKernelError } from './kernel-error.ts';

/** Enough for every approval of an honest session; a lying kernel must not be paged through for ever. */
const approvalPagesMax = 50;

/** The first approval of a session that is wanted, newest first. Throws KernelError. */
export async function findApprovalOf(
  client: Pick<KernelClient, 'listApprovals'>,
  { sessionId, signal }: { sessionId: string; signal?: AbortSignal },
  isWanted: (approval: Approval) => boolean,
): Promise<Approval | null> {
  const query: { session_id: string; limit: number; cursor?: string } = { session_id: sessionId, limit: 200 };
  for (let page = 0; page < approvalPagesMax; page += 1) {
    const answer = await client
      .listApprovals({ query, ...(signal === undefined ? {} : { signal }) })
      .catch(throwKernelError);
    if (answer.kind === 'refused') throw malformed(`The kernel answered ${answer.status}`);
    const found = answer.body.data.find(isWanted);
    if (found !== undefined) return found;
    if (answer.body.next_cursor === null) return null;
    query.cursor = answer.body.next_cursor;
  }
  throw malformed('The kernel lists approvals without end');
}
