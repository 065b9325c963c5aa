import { nodeProvider } from '@countersign/crypto/node';

export type StubApproval = {
  id: string;
  state: string;
  receiptId: string;
  session: string;
  tenant: string;
  /** The principal that requested the approval. `null` for the agent of the workspace. */
  requestedBy: string | null;
  tool: string;
  /** The members that identify a call within a session. */
  intent: string;
  approvedBy: string[];
  timelockUntil: string | null;
  expiresAt: string;
};

type Question = Pick<StubApproval, 'tenant' | 'session' | 'tool' | 'intent'> & {
  requestedBy?: string | null;
};
type Vote = { id: string; tenant: string; action: string; approver: string; ceremonyHash: string };

export const hash = (text: string) => `sha256:${Buffer.from(nodeProvider.sha256(Buffer.from(text))).toString('hex')}`;

const passkeyRequired = {
  error: {
    ...{ message: 'Passkeys are enrolled here', type: 'permission_error', code: 'PASSKEY_REQUIRED', param: null },
    ...{ reason_code: null, request_id: 'request-1', retryable: false },
  },
};

const notTheRequester = {
  error: {
    ...{
      message: 'Only the requester of an approval can withdraw it',
      type: 'permission_error',
      code: 'PERMISSION_DENIED',
    },
    ...{ param: null, reason_code: null, request_id: 'request-1', retryable: false },
  },
};

/** Approvals of the kernel stub, with the transitions, votes and single use of the real ones. */
export class StubApprovals {
  lifeSeconds = 900;
  /** Time lock of an approved call. */
  timelockSeconds = 0;
  clock = () => new Date();
  /** Number of required approvers. */
  quorum = 1;
  /** Whether passkeys are enrolled. Then only passkeys can decide. */
  isKeyed = false;
  /** The counted votes. */
  readonly votes: { approver: string; action: string }[] = [];
  readonly #approvals = new Map<string, StubApproval>();

  get ids(): string[] {
    return [...this.#approvals.keys()];
  }

  clear(): void {
    this.#approvals.clear();
    this.votes.length = 0;
    this.lifeSeconds = 900;
    this.timelockSeconds = 0;
    this.quorum = 1;
    this.isKeyed = false;
  }

  get(id: string): StubApproval {
    const approval = this.#approvals.get(id);
    if (approval === undefined) throw new Error('The kernel has no such approval');
    return approval;
  }

  /** Returns the pending approval of the same call. */
  findOpen({ tenant, session, tool, intent }: Question): StubApproval | undefined {
    return [...this.#approvals.values()].find(
      (one) =>
        this.#stateOf(one) === 'pending' &&
        [one.tenant, one.session, one.tool, one.intent].join() === [tenant, session, tool, intent].join(),
    );
  }

  open(id: string, receiptId: string, question: Question): StubApproval {
    const expiresAt = new Date(this.clock().getTime() + this.lifeSeconds * 1_000).toISOString();
    const approval = {
      id,
      state: 'pending',
      receiptId,
      requestedBy: null,
      ...question,
      approvedBy: [],
      timelockUntil: null,
      expiresAt,
    };
    this.#approvals.set(id, approval);
    return approval;
  }

  isLocked(id: string): boolean {
    const until = this.#approvals.get(id)?.timelockUntil ?? null;
    return until !== null && Date.parse(until) > this.clock().getTime();
  }

  /** Uses an approval once. */
  use(id: string): boolean {
    const approval = this.#approvals.get(id);
    if (approval?.state !== 'approved' || this.isLocked(id)) return false;
    approval.state = 'consumed';
    return true;
  }

  vote({ id, tenant, action, approver, ceremonyHash }: Vote): { status: number; body: object } {
    const approval = this.#approvals.get(id);
    if (approval === undefined || approval.tenant !== tenant) return { status: 404, body: {} };
    if (this.isKeyed) return { status: 403, body: passkeyRequired };
    if (ceremonyHash !== ceremonyOf(approval)) return { status: 412, body: {} };
    if (this.#stateOf(approval) !== 'pending' || approval.approvedBy.includes(approver))
      return { status: 409, body: {} };
    if (action === 'approve') approval.approvedBy.push(approver);
    if (action !== 'approve') approval.state = 'denied';
    else if (approval.approvedBy.length >= this.quorum) this.approve(approval);
    this.votes.push({ approver, action });
    return { status: 200, body: this.#view(approval) };
  }

  withdraw(id: string, tenant: string): { status: number; body: object } {
    const approval = this.#approvals.get(id);
    if (approval === undefined || approval.tenant !== tenant) return { status: 404, body: {} };
    if (approval.requestedBy !== null) return { status: 403, body: notTheRequester };
    if (['pending', 'approved'].includes(this.#stateOf(approval))) approval.state = 'revoked';
    return { status: 200, body: this.#view(approval) };
  }

  approve(approval: StubApproval): void {
    approval.state = 'approved';
    if (this.timelockSeconds === 0) return;
    approval.timelockUntil = new Date(this.clock().getTime() + this.timelockSeconds * 1_000).toISOString();
  }

  list(query: URLSearchParams, tenant: string): object {
    const state = query.get('state');
    const found = [...this.#approvals.values()].filter(
      (one) =>
        one.session === query.get('session_id') &&
        one.tenant === tenant &&
        (state === null || this.#stateOf(one) === state),
    );
    return { data: found.map((one) => this.#view(one)), next_cursor: null };
  }

  #view(approval: StubApproval): object {
    const now = this.clock().toISOString();
    return {
      approval_id: approval.id,
      state: this.#stateOf(approval),
      tenant_id: approval.tenant,
      requested_by: approval.requestedBy ?? `agent:${approval.tenant}`,
      session_id: approval.session,
      action: 'tool.call',
      tool: approval.tool,
      resource: null,
      effect_level: 'E2',
      demand: { tool_calls: 1, spend_micros: '0', egress_bytes: 0, writes: 1 },
      facts: {},
      args: this.#stateOf(approval) === 'pending' ? { seen: 'by the policy' } : null,
      intent_hash: hash('intent'),
      judged_hash: hash('judged'),
      policy_hash: hash('policy'),
      preconditions: { tool_definition_hash: null, budgets: null },
      receipt_id: approval.receiptId,
      reason: 'as the table says',
      quorum: this.quorum,
      approvers: [],
      approved_by: approval.approvedBy,
      scope: 'once',
      uses_remaining: 1,
      rejection_reason: null,
      timelock_seconds: this.timelockSeconds,
      timelock_until: approval.timelockUntil,
      break_glass: null,
      expires_at: approval.expiresAt,
      ceremony_hash: ceremonyOf(approval),
      created_at: now,
      updated_at: now,
    };
  }

  /** Returns the state. A pending approval is expired after its time. */
  #stateOf({ state, expiresAt }: StubApproval): string {
    return state === 'pending' && Date.parse(expiresAt) <= this.clock().getTime() ? 'expired' : state;
  }
}

function ceremonyOf({ id, state, approvedBy }: StubApproval): string {
  return hash(JSON.stringify([id, state, approvedBy]));
}
