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

/** One principal of one tenant, who evaluates and approves as SDK users do. */
export class Caller {
  readonly client: KernelClient;
  readonly #page: { test: TestKernel; tenant: string; principal: string };

  constructor(test: TestKernel, tenant = 'acme', principal = 'agent') {
    this.client = test.as(tenant, principal);
    this.#page = { test, tenant, principal };
  }

  async decide(call: Call, headers: Record<string, string> = {}): Promise<DecisionReply> {
    const body = { action: 'tool.call', session_id: newSession(), ...call } as EvaluateRequest; // a test writes plain names
    return (await this.client.evaluate({ body, headers })).body;
  }

  async approval(id: ApprovalId): Promise<Approval> {
    const { body } = await this.client.listApprovals({ query: { limit: 200 } });
    const found = body.data.find(({ approval_id }) => approval_id === id);
    if (found === undefined) throw new Error(`${id} is not listed`);
    return found;
  }

  /** Decides an approval in the state that is listed now. */
  async move(action: ApprovalDecision, id: ApprovalId, reason?: string): Promise<Approval> {
    const { ceremony_hash } = await this.approval(id);
    const headers = { 'if-match': `"${ceremony_hash}"` };
    const input = { params: { approval_id: id, action }, body: reason === undefined ? {} : { reason }, headers };
    return (await this.client.transitionApproval(input)).body;
  }

  /** Decides on the page of the approval, by an approver key of this person: a credential of their own, as a quorum wants. */
  async decideOnPage(id: ApprovalId, decision: ApprovalDecision = 'approve'): Promise<Approval> {
    const { test, tenant, principal } = this.#page;
    const body = { kind: 'approver', principal_id: principal } as never; // its defaults are the kernel's
    const { key } = (await test.as(tenant, 'operator').createAccessKey({ body })).body;
    const browser = new Browser(test.kernel.url);
    const page = await browser.submit((await browser.open(`/approvals/${id}`)).form('sign-in'), { key });
    await browser.submit(page.form('apr_'), { decision, reason: '' });
    return this.approval(id);
  }
}

/** The approval that an ESCALATE asks for. */
export function asked({ approval, verdict }: DecisionReply): ApprovalId {
  if (approval === undefined) throw new Error(`${verdict} asks for no approval`);
  return approval.approval_id;
}

/** Verdict and reason, as most assertions want them. */
export const said = ({ verdict, reason_code }: DecisionReply) => `${verdict} ${reason_code}`;

/** The code that a call was refused with. */
export async function refusal(call: Promise<unknown>): Promise<string> {
  try {
    await call;
  } catch (error) {
    if (isAppError(error)) return error.code;
    throw error;
  }
  throw new Error('it was not refused');
}

/** A clock that stands still until it is moved. */
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

/** The entries of a session in the ledger, oldest first, read by the administrator of the database. */
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
