import { errorCodes, ErrorEnvelope, reasonCodes, type Verdict } from '@countersign/contracts';
import type { Approval } from '@countersign/contracts/governance-kernel';
import {
  listApprovals,
  listMcpCapabilities,
  McpExecution,
  StoredReceipt,
  type ReceiptPayload,
} from '@countersign/contracts/governance-kernel';
import { canonicalize, type JsonValue } from '@countersign/crypto';
import { z } from 'zod';
import type { GovernanceConfig } from '../config.ts';
import type { ModelReply, Proposal, ToolReply } from '../runs/conversation.ts';
import { findReceiptFault } from './check-receipt.ts';
import { KernelError } from './kernel-error.ts';
import { createKernelTransport, type KernelAnswer, type KernelTransport } from './kernel-transport.ts';
import { modelReplyOf } from './model-reply.ts';
import { createKeyRing, type KeyRing } from './trusted-keys.ts';
import { toolReplyOf } from './tool-reply.ts';

/** Who asks: the agent of one workspace, within one run. */
export type Asker = { workspaceId: string; runId: string };

/** A step as it is put to the kernel. The key makes a repeated question the same question. */
export type GovernedStep = Asker & {
  idempotencyKey: string;
  approvalGrant: string | null;
  startedAt: Date;
  signal: AbortSignal;
};

export type KernelApproval = { approvalId: string; expiresAt: Date };

/** A decision whose receipt was verified here: signature, hash, tenant, principal, session, action, tool, age. */
export type VerifiedDecision = {
  verdict: Verdict;
  reasonCode: string;
  reason: string;
  receipt: StoredReceipt;
  /** On ESCALATE: what has to be approved. */
  approval: KernelApproval | null;
};

export type Governed<Reply> = { decision: VerifiedDecision; reply: Reply | null };
export type GovernedTool = { name: string; description: string; inputSchema: { [member: string]: JsonValue } };

export type Kernel = {
  listTools(asker: Asker, signal: AbortSignal): Promise<GovernedTool[]>;
  callModel(step: GovernedStep, request: string): Promise<Governed<ModelReply>>;
  callTool(step: GovernedStep, call: { tool: string; args: string }): Promise<Governed<ToolReply>>;
  /** What became of a call that the kernel withheld from a model's answer. */
  recallDecision(
    step: GovernedStep,
    call: { tool: string; args: string },
    proposal: Proposal,
  ): Promise<Governed<ToolReply>>;
  findApproval(asker: Asker, approvalId: string): Promise<Approval | null>;
  decideApproval(vote: ApprovalVote): Promise<KernelAnswer>;
  readonly keyRing: KeyRing;
};

export type ApprovalVote = {
  workspaceId: string;
  approver: string;
  approvalId: string;
  action: 'approve' | 'deny';
  ceremonyHash: string;
};

export function agentOf(workspaceId: string): string {
  return `agent:${workspaceId}`;
}

/** The kernel as the orchestrator sees it: nothing it says counts before its receipt was verified. Methods throw KernelError. */
export function createKernel(config: GovernanceConfig, fetchNow: typeof fetch = fetch): Kernel {
  const parts: Parts = { send: createKernelTransport(config, fetchNow), keyRing: createKeyRing(config, fetchNow) };
  return {
    keyRing: parts.keyRing,
    listTools: (asker, signal) => listTools(parts, asker, signal),
    callModel: (step, request) => callModel(parts, step, request),
    callTool: (step, call) => callTool(parts, step, call),
    recallDecision: (step, call, proposal) => recallDecision(parts, step, call, proposal),
    findApproval: (asker, approvalId) => findApproval(parts, asker, (approval) => approval.approval_id === approvalId),
    decideApproval: (vote) =>
      parts.send({
        method: 'POST',
        path: `/api/v1/approvals/${vote.approvalId}/${vote.action}`,
        tenant: vote.workspaceId,
        principal: vote.approver,
        headers: { 'if-match': `"${vote.ceremonyHash}"` },
        body: canonicalize({ expected_ceremony_hash: vote.ceremonyHash }),
      }),
  };
}

type Parts = { send: KernelTransport; keyRing: KeyRing };

async function listTools(parts: Parts, asker: Asker, signal: AbortSignal): Promise<GovernedTool[]> {
  const answer = await parts.send({ ...identity(asker), method: 'GET', path: listMcpCapabilities.path, signal });
  const { tools } = parse(listMcpCapabilities.reply, answer, [200]);
  return tools.map((tool) => ({ name: tool.name, description: tool.description, inputSchema: tool.input_schema }));
}

async function callModel(parts: Parts, step: GovernedStep, request: string): Promise<Governed<ModelReply>> {
  const answer = await parts.send({
    ...identity(step),
    method: 'POST',
    path: '/v1/chat/completions',
    headers: stepHeaders(step),
    body: request,
    signal: step.signal,
  });
  refuseFailure(answer);
  const decision = await modelDecision(parts, step, answer);
  if (decision.verdict !== 'ALLOW') return { decision, reply: null };
  if (answer.status !== 200) throw malformed(`The kernel allowed the call and answered ${answer.status}`);
  return { decision, reply: modelReplyOf(answer.body) };
}

/** The chat answer is the model's own; its receipt is fetched by the id in the header and then verified like any other. */
async function modelDecision(parts: Parts, step: GovernedStep, answer: KernelAnswer): Promise<VerifiedDecision> {
  const receiptId = answer.headers.get('x-gov-receipt-id');
  const decisionId = answer.headers.get('x-gov-decision-id');
  if (receiptId === null || decisionId === null) throw malformed('The answer of the kernel carries no receipt');
  const receipt = await fetchReceipt(parts, step, receiptId);
  // The tool of a model call is the model's business; all else must be this very step.
  await verify(parts, step, receipt, { action: 'model.call', tool: receipt.payload.tool, decisionId });
  const approval = receipt.payload.verdict === 'ESCALATE' ? await approvalOf(parts, step, receipt.payload) : null;
  return decisionOf(receipt, reasonOf(answer.body), handleOf(approval));
}

async function recallDecision(
  parts: Parts,
  step: GovernedStep,
  call: { tool: string; args: string },
  { decisionId, receiptId, notBefore }: Proposal,
): Promise<Governed<ToolReply>> {
  const receipt = await fetchReceipt(parts, step, receiptId);
  const then = { ...step, startedAt: new Date(notBefore) };
  await verify(parts, then, receipt, { action: 'tool.call', tool: call.tool, decisionId });
  const { verdict } = receipt.payload;
  if (verdict === 'ALLOW') throw malformed('The kernel withheld a call that it allowed');
  if (verdict === 'DENY') return { decision: decisionOf(receipt, '', null), reply: null };
  const approval = await approvalOf(parts, step, receipt.payload);
  // The same call made twice asks under one approval. What the first one used up, the second has to ask for itself.
  if (approval !== null && approval.state !== 'pending') return callTool(parts, step, call);
  return { decision: decisionOf(receipt, '', handleOf(approval)), reply: null };
}

async function fetchReceipt(parts: Parts, step: GovernedStep, receiptId: string): Promise<StoredReceipt> {
  const answer = await parts.send({
    ...identity(step),
    method: 'GET',
    path: `/api/v1/receipts/${encodeURIComponent(receiptId)}`,
    signal: step.signal,
  });
  return parse(StoredReceipt, answer, [200]);
}

async function callTool(
  parts: Parts,
  step: GovernedStep,
  call: { tool: string; args: string },
): Promise<Governed<ToolReply>> {
  const answer = await parts.send({
    ...identity(step),
    method: 'POST',
    path: '/mcp/v1/execute',
    headers: stepHeaders(step),
    body: executionBody(step, call),
    signal: step.signal,
  });
  refuseFailure(answer);
  const execution = parse(McpExecution, answer, [200, 403]);
  const { receipt, approval, reason } = execution.decision;
  await verify(parts, step, receipt, {
    action: 'tool.call',
    tool: call.tool,
    decisionId: execution.decision.decision_id,
  });
  const pending = approval ? { approvalId: approval.approval_id, expiresAt: new Date(approval.expires_at) } : null;
  const decision = decisionOf(receipt, reason, pending);
  if (decision.verdict !== 'ALLOW') return { decision, reply: null };
  if (answer.status !== 200) throw malformed(`The kernel allowed the call and answered ${answer.status}`);
  return { decision, reply: toolReplyOf(execution) };
}

/** The arguments are canonical text already, so a repeated call has the same bytes. */
function executionBody(step: GovernedStep, { tool, args }: { tool: string; args: string }): string {
  const members = {
    session_id: step.runId,
    tool,
    ...(step.approvalGrant === null ? {} : { approval_grant: step.approvalGrant }),
  };
  return `{"args":${args},${JSON.stringify(members).slice(1)}`;
}

/** Enough for every approval of an honest run; a lying kernel must not be paged through for ever. */
const approvalPagesMax = 50;

async function findApproval(
  parts: Parts,
  asker: Asker & { signal?: AbortSignal },
  isWanted: (approval: Approval) => boolean,
): Promise<Approval | null> {
  const query = new URLSearchParams({ session_id: asker.runId, limit: '200' });
  for (let page = 0; page < approvalPagesMax; page += 1) {
    const path = `${listApprovals.path}?${query.toString()}`;
    const answer = await parts.send({
      ...identity(asker),
      method: 'GET',
      path,
      ...(asker.signal === undefined ? {} : { signal: asker.signal }),
    });
    const { data, next_cursor: next } = parse(listApprovals.reply, answer, [200]);
    const found = data.find(isWanted);
    if (found !== undefined) return found;
    if (next === null) return null;
    query.set('cursor', next);
  }
  throw malformed('The kernel lists approvals without end');
}

/** What an ESCALATE asks for: a question of its own, or the one that was open for the same call already. */
function approvalOf(parts: Parts, step: GovernedStep, payload: ReceiptPayload): Promise<Approval | null> {
  return findApproval(
    parts,
    step,
    ({ receipt_id: id, approval_id: approvalId }) => id === payload.receipt_id || approvalId === payload.approval_id,
  );
}

function handleOf(approval: Approval | null): KernelApproval | null {
  return approval === null ? null : { approvalId: approval.approval_id, expiresAt: new Date(approval.expires_at) };
}

async function verify(
  parts: Parts,
  step: GovernedStep,
  receipt: StoredReceipt,
  subject: { action: string; tool: string | null; decisionId: string },
): Promise<void> {
  const fault = findReceiptFault(receipt, await parts.keyRing.keys(), {
    ...subject,
    tenant: step.workspaceId,
    principal: agentOf(step.workspaceId),
    session: step.runId,
    notBefore: step.startedAt,
  });
  if (fault === null) return;
  throw new KernelError('unreachable', 'RECEIPT_UNVERIFIED', `The receipt of the kernel was refused: ${fault}`);
}

function decisionOf(receipt: StoredReceipt, reason: string, approval: KernelApproval | null): VerifiedDecision {
  const { verdict, reason_code: reasonCode } = receipt.payload;
  if (verdict === 'ESCALATE' && approval === null)
    throw malformed('The kernel asks for an approval that it does not name');
  return { verdict, reasonCode, reason: reason === '' ? reasonCodes[reasonCode].nextStep : reason, receipt, approval };
}

function identity(asker: Asker): { tenant: string; principal: string } {
  return { tenant: asker.workspaceId, principal: agentOf(asker.workspaceId) };
}

function stepHeaders(step: GovernedStep): Record<string, string> {
  return {
    'x-gov-session-id': step.runId,
    'idempotency-key': step.idempotencyKey,
    ...(step.approvalGrant === null ? {} : { 'x-gov-approval-grant': step.approvalGrant }),
  };
}

/** Everything but an answer or a refusal is a failure; only a failure behind the kernel is not the kernel's. */
function refuseFailure(answer: KernelAnswer): void {
  if (answer.status === 200 || answer.status === 403) return;
  const envelope = z.object({ error: z.object({ code: z.string() }) }).safeParse(answer.body);
  const code = envelope.success ? envelope.data.error.code : `HTTP_${answer.status}`;
  if (code === 'UPSTREAM_FAILED' || code === 'UPSTREAM_NOT_CONFIGURED')
    throw new KernelError('upstream', code, errorCodes[code].nextStep);
  throw new KernelError('unreachable', code, `The kernel answered ${answer.status}`);
}

function reasonOf(body: unknown): string {
  const envelope = ErrorEnvelope.safeParse(body);
  return envelope.success ? envelope.data.error.message : '';
}

function parse<T>(shape: z.ZodType<T>, answer: KernelAnswer, statuses: readonly number[]): T {
  if (!statuses.includes(answer.status)) throw malformed(`The kernel answered ${answer.status}`);
  const parsed = shape.safeParse(answer.body);
  if (!parsed.success) throw malformed('The answer of the kernel broke its contract', parsed.error);
  return parsed.data;
}

function malformed(message: string, cause?: unknown): KernelError {
  return new KernelError('unreachable', 'GOVERNANCE_MALFORMED', message, { cause });
}
