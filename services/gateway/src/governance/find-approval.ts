import type { Approval } from '@countersign/contracts/governance-kernel';
import type { KernelClient } from './kernel-clients.ts';
import { malformed, throwKernelError } from './kernel-error.ts';

/**
 * Enough for every approval of an honest session. The limit protects against a kernel that returns pages without end.
 */
const approvalPagesMax = 50;

type Session = { sessionId: string; signal?: AbortSignal };
type Lister = Pick<KernelClient, 'listApprovals'>;

/** The newest approval of a session that matches. Throws KernelError. */
export async function findApprovalOf(
  client: Lister,
  session: Session,
  isWanted: (approval: Approval) => boolean,
): Promise<Approval | null> {
  for await (const approval of approvalsOf(client, session)) if (isWanted(approval)) return approval;
  return null;
}

/** The approvals of a session, newest first. Throws KernelError. */
export async function* approvalsOf(client: Lister, { sessionId, signal }: Session): AsyncGenerator<Approval> {
  const query: { session_id: string; limit: number; cursor?: string } = { session_id: sessionId, limit: 200 };
  for (let page = 0; page < approvalPagesMax; page += 1) {
    const answer = await client
      .listApprovals({ query, ...(signal === undefined ? {} : { signal }) })
      .catch(throwKernelError);
    if (answer.kind === 'refused') throw malformed(`The kernel answered ${answer.status}`);
    yield* answer.body.data;
    if (answer.body.next_cursor === null) return;
    query.cursor = answer.body.next_cursor;
  }
  throw malformed('The kernel lists approvals without end');
}
