import { isAppError, type ApprovalId, type SessionId } from '@countersign/contracts';
import type {
  Approval,
  ApprovalDecision,
  BoundaryRecord,
  DecisionReply,
  EvaluateRequest,
  ReceiptPayload,
} from '@countersign/contracts/governance-kernel';
import { Browser } from '@countersign/testkit/browser';
import type { KernelClient, TestKernel } from './_kernel.ts';

export type Call = { [Member in keyof EvaluateRequest]?: EvaluateRequest[Member] | string };

let sessions = 0;
export const newSession = () => `session-${(sessions += 1)}-${process.pid}` as SessionId;

/** A principal of a tenant that evaluates and approves calls with the SDK's client. */
export class Caller {
  readonly client: KernelClient;
  readonly #page: { test: TestKernel; tenant: string; principal: string };

  constructor(test: TestKernel, tenant = 'acme', principal = 'agent') {
    this.client = test.as(tenant, principal);
    this.#page = { test, tenant, principal };
  }

  async decide(call: Call, headers: Record<string, string> = {}): Promise<DecisionReply> {
    const body = { action: 'tool.call', session_id: newSession(), ...call } as EvaluateRequest; // plain strings instead of branded ones
    return (await this.client.evaluate({ body, headers })).body;
  }

  async approval(id: ApprovalId): Promise<Approval> {
    const { body } = await this.client.listApprovals({ query: { limit: 200 } });
    const found = body.data.find(({ approval_id }) => approval_id === id);
    if (found === undefined) throw new Error(`${id} is not listed`);
    return found;
  }

  /** Decides an approval with the ceremony hash that the list contains now. */
  async move(action: ApprovalDecision, id: ApprovalId, reason?: string): Promise<Approval> {
    const { ceremony_hash } = await this.approval(id);
    const headers = { 'if-match': `"${ceremony_hash}"` };
    const input = { params: { approval_id: id, action }, body: reason === undefined ? {} : { reason }, headers };
    return (await this.client.transitionApproval(input)).body;
  }

  /**
   * Decides on the approval's page with this person's own approver key. A quorum needs a separate credential per
   * person.
   */
  async decideOnPage(id: ApprovalId, decision: ApprovalDecision = 'approve'): Promise<Approval> {
    const { test, tenant, principal } = this.#page;
    const body = { kind: 'approver', principal_id: principal } as never; // the kernel fills in the defaults
    const { key } = (await test.as(tenant, 'operator').createAccessKey({ body })).body;
    const browser = new Browser(test.kernel.url);
    const page = await browser.submit((await browser.open(`/approvals/${id}`)).form('sign-in'), { key });
    await browser.submit(page.form('apr_'), { decision, reason: '' });
    return this.approval(id);
  }
}

/** The id of the approval in an ESCALATE reply. Throws when the reply has none. */
export function send({ approval, verdict }: DecisionReply): ApprovalId {
  if (approval === undefined) throw new Error(`${verdict} asks for no approval`);
  return approval.approval_id;
}

/** Verdict and reason code as one text, for assertions. */
export const answerOf = ({ verdict, reason_code }: DecisionReply) => `${verdict} ${reason_code}`;

/** The error code of a call that must be refused. */
export async function refusal(call: Promise<unknown>): Promise<string> {
  try {
    await call;
  } catch (error) {
    if (isAppError(error)) return error.code;
    throw error;
  }
  throw new Error('it was not refused');
}

/** A clock that moves only when a test advances it. */
export function movableClock(start: string) {
  let nowMs = Date.parse(start);
  return {
    clock: () => new Date(nowMs),
    advance: (ms: number) => {
      nowMs += ms;
    },
  };
}

export type Sealed = { payload: DecisionReply['receipt']['payload']; record: BoundaryRecord | null };

/** The ledger entries of a session, oldest first. */
export async function ledgerOf({ pool }: TestKernel, session: string): Promise<Sealed[]> {
  const { rows } = await pool.query<{ payload: string; record: string | null }>(
    'SELECT payload, record FROM ledger WHERE session_id = $1 ORDER BY lamport_clock',
    [session],
  );
  return rows.map(({ payload, record }) => ({
    payload: JSON.parse(payload) as ReceiptPayload,
    record: record === null ? null : (JSON.parse(record) as BoundaryRecord),
  }));
}
