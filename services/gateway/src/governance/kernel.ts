import {
  agentOf,
  ErrorCode,
  errorCodes,
  ErrorEnvelope,
  PlainObject,
  TenantId,
  type RawAnswer,
} from '@countersign/contracts';
import type { Role } from '@countersign/contracts/gateway';
import {
  approvalsEndedAtOnce,
  type Approval,
  type DecisionReply,
  type ReceiptPayload,
  type StoredReceipt,
} from '@countersign/contracts/governance-kernel';
import type { JsonValue } from '@countersign/crypto';
import type { AssertionSigner } from '@countersign/service-kit';
import { z } from 'zod';
import type { GovernanceConfig } from '../config.ts';
import type { ModelReply, Proposal, ToolReply } from '../runs/conversation.ts';
import type { MemberList } from '../store/members.ts';
import { applySettings, type AppliedSettings } from './apply-settings.ts';
import { chatReceiptOf } from './chat-receipt.ts';
import { findApprovalOf } from './find-approval.ts';
import { findQuestion, type AskedByKey, type Question } from './find-question.ts';
import { assertedAgent, assertedPerson, type AssertedMember } from './asserted.ts';
import type { Asker, GovernedCall, GovernedStep } from './governed-step.ts';
import { createKernelClients, type KernelClient } from './kernel-clients.ts';
import { KernelError, malformed, throwKernelError } from './kernel-error.ts';
import { modelReplyOf } from './model-reply.ts';
import { modelRequestOf } from './model-request.ts';
import { toolReplyOf } from './tool-reply.ts';
import { kernelKeyRing, type KernelKeyRing } from './trusted-keys.ts';
import { withdrawApprovals } from './withdraw-approvals.ts';
import { decisionOf, verifyDecision, type KernelApproval, type VerifiedDecision } from './verified-decision.ts';

export type Governed<Reply> = { decision: VerifiedDecision; reply: Reply | null };
export type GovernedTool = { name: string; description: string; inputSchema: { [member: string]: JsonValue } };

export type Kernel = {
  applySettings(applied: AppliedSettings, signal: AbortSignal): Promise<void>;
  listTools(asker: Asker, signal: AbortSignal): Promise<GovernedTool[]>;
  /** `request` is canonical JSON text. */
  callModel(step: GovernedStep, request: string): Promise<Governed<ModelReply>>;
  callTool(step: GovernedStep, call: GovernedCall): Promise<Governed<ToolReply>>;
  /** The outcome of a call that the kernel withheld from a model's answer. */
  recallDecision(step: GovernedStep, call: GovernedCall, proposal: Proposal): Promise<Governed<ToolReply>>;
  findApproval(of: { workspaceId: string; sessionId: string }, approvalId: string): Promise<Approval | null>;
  findQuestion(question: AskedByKey): Promise<Question | null>;
  /** Sends a whole list of members. Resolves to the version that is in force at the kernel. */
  putMembers(list: MemberList, signal: AbortSignal): Promise<number>;
  castVote(vote: ApprovalVote): Promise<RawAnswer<Approval>>;
  /** Withdraws the pending and usable approvals that the agent of a workspace requested in one session. */
  withdrawApprovals(of: { workspaceId: string; sessionId: string; reason: string }): Promise<void>;
  /** Ends the pending and usable approvals of a person in a workspace: those they requested and those they gave. */
  endApprovalsOf(of: { workspaceId: string; userId: string; reason: string }): Promise<void>;
  /** Requests a decision about a change of agent governance, as the person who makes it. */
  proposeChange(by: AssertedMember, change: Change): Promise<RawAnswer<DecisionReply>>;
  readonly keyRing: KernelKeyRing;
};

/** A change of agent governance: its object, and the values that an approver sees. */
type Change = { resource: string; args: Record<string, string> };

type ApprovalVote = {
  workspaceId: string;
  approver: string;
  /** The approver's role in the workspace. */
  role: Role;
  /** Version of the list of members that `role` is from. */
  membersVersion: number;
  approvalId: string;
  action: 'approve' | 'deny';
  ceremonyHash: string;
  reason: string | undefined;
};

/**
 * Changes of the members are changes of agent governance, since members approve. Their decisions have a chain of their
 * own.
 */
export const memberChangeSession = 'console:members';
const memberChange = { action: 'policy.change', effect_level: 'E3', session_id: memberChangeSession } as const;

/** The time for repeated attempts while a person waits at a screen. The person can try again. */
const personWaitsMs = 1_500;

type Ways = {
  signer: AssertionSigner;
  now: () => Date;
  fetch?: typeof fetch | undefined;
  /** The traceparent of the work that a call is part of; `null` when tracing is off. */
  traceparent?: () => string | null;
};

/**
 * The kernel client of the gateway. A decision about a step is used only after its receipt was verified. Methods throw
 * KernelError.
 */
export function createKernel(config: GovernanceConfig, options: Ways): Kernel {
  const { signer, now, fetch: fetchNow = fetch, traceparent = () => null } = options;
  const repeating = (repeatsForMs: number) =>
    createKernelClients(config, { signer, fetch: fetchNow, repeatsForMs, traceparent });
  // A step retries within its whole time limit, since an outage of some seconds must not end a run.
  const clients = repeating(config.timeoutMs);
  const forPeople = repeating(personWaitsMs);
  // Calls only once, since an unavailable kernel must not delay a request. A kernel with an older list of members
  // refuses votes anyway.
  const once = repeating(0);
  const keyRing = kernelKeyRing(config.trust, { kernel: clients.anonymous, now });
  const deps: Deps = {
    as: (asker) => clients.as(assertedAgent(asker)),
    keyRing,
  };
  return {
    keyRing,
    applySettings: (applied, signal) => applySettings(clients.sibling, applied, signal),
    putMembers: async ({ workspaceId, version, members }, signal) => {
      const roles = members.map(({ userId: user_id, role }) => ({ user_id, role }));
      const input = { params: { tenant: TenantId.parse(workspaceId) }, body: { version, members: roles }, signal };
      return repliedBy(await once.sibling.putMembers(input).catch(throwKernelError)).version;
    },
    listTools: (asker, signal) => listTools(deps, asker, signal),
    callModel: (step, request) => callModel(deps, step, request),
    callTool: (step, call) => callTool(deps, step, call),
    recallDecision: (step, call, proposal) => recallDecision(deps, step, call, proposal),
    findApproval: ({ workspaceId, sessionId }, id) =>
      findApprovalOf(
        forPeople.as(assertedAgent({ workspaceId })),
        { sessionId },
        ({ approval_id }) => approval_id === id,
      ),
    findQuestion: (request) =>
      findQuestion(forPeople.as(assertedAgent({ workspaceId: request.workspaceId })), deps.keyRing, request),
    withdrawApprovals: ({ workspaceId, ...session }) =>
      withdrawApprovals(forPeople.as(assertedAgent({ workspaceId })), {
        ...session,
        requestedBy: agentOf(workspaceId),
      }),
    endApprovalsOf: (access) => endApprovalsOf(forPeople, access),
    castVote: ({ workspaceId, approver, role, membersVersion, approvalId, action, ceremonyHash, reason }) =>
      forPeople
        .as(assertedPerson({ workspaceId, userId: approver, role, membersVersion }))
        .transitionApproval({
          params: { approval_id: approvalId, action },
          headers: { 'if-match': `"${ceremonyHash}"` },
          body: { expected_ceremony_hash: ceremonyHash, ...(reason === undefined ? {} : { reason }) },
        })
        .catch(throwKernelError),
    proposeChange: (by, { resource, args }) =>
      forPeople
        .as(assertedPerson(by))
        .evaluate({
          body: { ...memberChange, resource, args, context: {}, mode: 'enforce' },
        })
        .catch(throwKernelError),
  };
}

type EndedAccess = Parameters<Kernel['endApprovalsOf']>[0];

async function endApprovalsOf(
  { sibling }: ReturnType<typeof createKernelClients>,
  { workspaceId, userId, reason }: EndedAccess,
): Promise<void> {
  const request = { params: { tenant: workspaceId }, body: { person: userId, reason } };
  for (let ended = approvalsEndedAtOnce; ended === approvalsEndedAtOnce;)
    ({ ended } = repliedBy(await sibling.endApprovals(request).catch(throwKernelError)));
}

type Deps = { as(asker: Asker): KernelClient; keyRing: KernelKeyRing };

async function listTools(deps: Deps, asker: Asker, signal: AbortSignal): Promise<GovernedTool[]> {
  const { tools } = repliedBy(await deps.as(asker).listMcpCapabilities({ signal }).catch(throwKernelError));
  return tools.map((tool) => ({ name: tool.name, description: tool.description, inputSchema: tool.input_schema }));
}

async function callModel(deps: Deps, step: GovernedStep, request: string): Promise<Governed<ModelReply>> {
  const answer = await deps
    .as(step)
    .createChatCompletion({
      body: modelRequestOf(request),
      headers: stepHeaders(step),
      signal: step.signal,
    })
    .catch(throwKernelError);
  refuseFailure(answer);
  const { receipt, decisionId } = chatReceiptOf(answer.headers);
  // A model call may contain any tool, so the tool is not compared. All other members must belong to this step.
  await verifyDecision(deps.keyRing, step, receipt, { action: 'model.call', tool: receipt.payload.tool, decisionId });
  const question = await questionOf(deps, step, receipt.payload);
  const decision = decisionOf(receipt, reasonOf(answer.body), question);
  if (decision.verdict !== 'ALLOW') return { decision, reply: null };
  return { decision, reply: modelReplyOf(repliedBy(answer), answer.headers) };
}

async function recallDecision(
  deps: Deps,
  step: GovernedStep,
  call: GovernedCall,
  { decisionId, receiptId, notBefore }: Proposal,
): Promise<Governed<ToolReply>> {
  const receipt = await fetchReceipt(deps, step, receiptId);
  const then = { ...step, startedAt: new Date(notBefore) };
  await verifyDecision(deps.keyRing, then, receipt, { action: 'tool.call', tool: call.tool, decisionId });
  const { verdict } = receipt.payload;
  if (verdict === 'ALLOW') throw malformed('The kernel withheld a call that it allowed');
  if (verdict === 'DENY') return { decision: decisionOf(receipt, '', null), reply: null };
  const approval = await approvalOf(deps, step, receipt.payload);
  // Two equal calls share one approval. When the first has used it up, the second must ask for its own.
  if (approval !== null && approval.state !== 'pending') return callTool(deps, step, call);
  return { decision: decisionOf(receipt, '', shown(approval)), reply: null };
}

async function fetchReceipt(deps: Deps, step: GovernedStep, receiptId: string): Promise<StoredReceipt> {
  const input = { params: { receipt_id: receiptId }, signal: step.signal };
  return repliedBy(await deps.as(step).getReceipt(input).catch(throwKernelError));
}

async function callTool(deps: Deps, step: GovernedStep, call: GovernedCall): Promise<Governed<ToolReply>> {
  const answer = await deps
    .as(step)
    .executeMcp({
      body: {
        tool: call.tool,
        args: PlainObject.parse(JSON.parse(call.args)),
        session_id: step.runId,
        context: {},
        ...(step.approvalGrant === null ? {} : { approval_grant: step.approvalGrant }),
      },
      headers: stepHeaders(step),
      signal: step.signal,
    })
    .catch(throwKernelError);
  refuseFailure(answer);
  const execution = repliedBy(answer);
  const { receipt, reason, decision_id: decisionId } = execution.decision;
  await verifyDecision(deps.keyRing, step, receipt, { action: 'tool.call', tool: call.tool, decisionId });
  const decision = decisionOf(receipt, reason, await questionOf(deps, step, receipt.payload));
  if (decision.verdict !== 'ALLOW') return { decision, reply: null };
  if (answer.status !== 200) throw malformed(`The kernel allowed the call and answered ${answer.status}`);
  return { decision, reply: toolReplyOf(execution) };
}

/** The approval that an ESCALATE requires: a new one, or the open one for the same call. */
function approvalOf(deps: Deps, step: GovernedStep, payload: ReceiptPayload): Promise<Approval | null> {
  const isAskedFor = ({ receipt_id: receiptId, approval_id: approvalId }: Approval) =>
    receiptId === payload.receipt_id || approvalId === payload.approval_id;
  const { runId: sessionId, signal } = step;
  return findApprovalOf(deps.as(step), { sessionId, signal }, isAskedFor);
}

async function questionOf(deps: Deps, step: GovernedStep, payload: ReceiptPayload): Promise<KernelApproval | null> {
  return payload.verdict === 'ESCALATE' ? shown(await approvalOf(deps, step, payload)) : null;
}

function shown(approval: Approval | null): KernelApproval | null {
  if (approval === null) return null;
  const { approval_id: approvalId, expires_at: expiresAt, demand, args, facts, reason } = approval;
  return { approvalId, expiresAt: new Date(expiresAt), demand, args, facts, reason };
}

function stepHeaders(step: GovernedStep): Record<string, string> {
  return {
    'x-gov-session-id': step.runId,
    'idempotency-key': step.idempotencyKey,
    ...(step.approvalGrant === null ? {} : { 'x-gov-approval-grant': step.approvalGrant }),
  };
}

const Failure = z.object({ error: z.object({ code: ErrorCode }) });

/** Throws for any status except 200 and 403. A failure of the upstream model is not a failure of the kernel. */
function refuseFailure({ status, body }: RawAnswer<unknown>): void {
  if (status === 200 || status === 403) return;
  const code = Failure.safeParse(body).data?.error.code ?? 'GOVERNANCE_REFUSED';
  if (code === 'UPSTREAM_FAILED' || code === 'UPSTREAM_NOT_CONFIGURED' || code === 'OUTCOME_UNCERTAIN')
    throw new KernelError('upstream', code, errorCodes[code].nextStep);
  throw new KernelError('unreachable', code, `The kernel answered ${status}`);
}

function reasonOf(body: unknown): string {
  return ErrorEnvelope.safeParse(body).data?.error.message ?? '';
}

function repliedBy<Reply>(answer: RawAnswer<Reply>): Reply {
  if (answer.kind === 'refused') throw malformed(`The kernel answered ${answer.status}`);
  return answer.body;
}
