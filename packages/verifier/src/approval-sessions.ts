import type { BoundaryRecord } from '@countersign/contracts/governance-kernel';
import { VerificationError } from './verification-error.ts';

/** The session of each approval. An approval is requested, moved and used in one session. */
export class ApprovalSessions {
  readonly #sessions = new Map<string, string>();

  /**
   * A DENY or an ESCALATE may name any approval, because its caller may name it. Throws {@link VerificationError}
   * `APPROVAL_CONTRADICTED`.
   */
  take({ kind, verdict, approval_id: id, session_id }: BoundaryRecord): void {
    if (id === null || (kind === 'decision' && verdict !== 'ALLOW')) return;
    const session = this.#sessions.get(id) ?? session_id;
    if (session !== session_id)
      throw new VerificationError('APPROVAL_CONTRADICTED', `the approval ${id} belongs to the session ${session}`);
    this.#sessions.set(id, session);
  }
}
