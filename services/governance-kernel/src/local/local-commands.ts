import { ApprovalId, AppError, PrincipalId, SessionId, TenantId } from '@countersign/contracts';
import type {
  Approval,
  Budget,
  Checkpoint,
  DecisionReply,
  EnvelopeManifest,
} from '@countersign/contracts/governance-kernel';
import {
  ApprovalDecision,
  createEnvelope as envelopeRoute,
  EvaluateRequest,
  putBudget,
} from '@countersign/contracts/governance-kernel';
import { z } from 'zod';
import { approvalView, approvalWithArgs } from '../controls/approvals/approval-view.ts';
import { moveApproval } from '../controls/approvals/move-approval.ts';
import { budgetView } from '../controls/budgets/budget-view.ts';
import { changeBudget } from '../controls/budgets/change-budget.ts';
import { assertSameMoney } from '../controls/budgets/terms.ts';
import { declaredDemand } from '../call/demand.ts';
import { givenArguments, meantBy, type Caller } from '../call/governed-call.ts';
import { requireProposer } from '../call/require-proposer.ts';
import { createEnvelope } from '../evidence/envelopes/create-envelope.ts';
import { manifestView } from '../evidence/envelopes/manifest.ts';
import { jwksOf } from '../evidence/proof/trusted-keys.ts';
import { exportSession, findNative, verifyRegistry } from './file-evidence.ts';
import type { ReceiptFilter } from './file-reads.ts';
import { activatePolicy } from './keep-policy.ts';
import type { Core } from './open-core.ts';

/** The operator has access to the keys of the file, so the stated names are accepted. */
const Names = z.strictObject({ tenant: TenantId, principal: PrincipalId });

export type LocalNames = { tenant: string; principal: string };
type Limited = ReceiptFilter & { limit: number };
type Decided = { id: string; action: string; reason?: string | undefined };

export type LocalCommands = ReturnType<typeof localCommands>;

/**
 * The operations of one standalone invocation, under the rules of the kernel's routes. Throws AppError. Its code is
 * INVALID_REQUEST for input that violates the contracts.
 */
export function localCommands(core: Core, names: LocalNames) {
  const { tenant, principal } = parsed(Names, names);
  const caller: Caller = { tenant, principal, scopes: ['*'] };
  const nowMs = () => core.clock().getTime();
  return {
    path: core.file.path,
    keys: () => ({ keys: jwksOf(core.trustKeys) }),
    activatePolicy: (text: string) => activatePolicy(core, text),
    evaluate: (request: unknown) => evaluate(core, caller, request),
    receipts: ({ limit, ...filter }: Limited) => core.reads.listReceipts(tenant, filter, { limit, before: null }),
    records: async ({ limit, ...filter }: Limited) =>
      (await core.reads.listRecords(tenant, filter, { limit, before: null })).map(({ item }) => item),
    approvals: async (): Promise<Approval[]> =>
      (await core.reads.listApprovals(tenant)).map((row) =>
        approvalWithArgs(row, { ...core, nowMs: nowMs(), policy: core.policies.current(tenant) }),
      ),
    decide: (decided: Decided) => decideApproval(core, caller, decided),
    checkpoint: (): Promise<Checkpoint> => core.checkpoints.create(),
    checkpoints: async (): Promise<Checkpoint[]> => (await core.file.read()).checkpoints.toReversed(),
    verify: () => verifyRegistry(core),
    exportSession: (session: string) => exportSession(core, { tenant, by: principal }, parsed(SessionId, session)),
    budgets: async (): Promise<Budget[]> =>
      (await core.reads.listBudgets(tenant)).map((stored) => budgetView(stored, nowMs())),
    setBudget: (id: string, terms: unknown) => setBudget(core, caller, { id, terms }),
    createEnvelope: (request: unknown) => sealEnvelope(core, caller, request),
    envelopes: async (): Promise<EnvelopeManifest[]> => (await core.reads.listEnvelopes(tenant)).map(manifestView),
    close: () => core.ledger.close(),
  };
}

async function evaluate(core: Core, caller: Caller, request: unknown): Promise<DecisionReply> {
  const body = parsed(EvaluateRequest, request);
  requireProposer(body.action, caller);
  await core.policies.reload(caller.tenant);
  const { reply } = await core.boundary.decide({
    ...meantBy(body),
    ...{ caller, session: body.session_id, effectLevel: body.effect_level },
    ...givenArguments(body.args),
    ...{ context: body.context, approvalGrant: body.approval_grant, mode: body.mode },
    demand: declaredDemand(body.demand),
    dispatchedBy: 'caller',
  });
  return reply;
}

async function decideApproval(core: Core, { tenant, principal }: Caller, decided: Decided): Promise<Approval> {
  const id = parsed(ApprovalId, decided.id);
  const [approval] = await core.reads.listApprovals(tenant, { id });
  if (approval === undefined) throw new AppError('NOT_FOUND', `There is no approval ${id}`);
  const moved = await moveApproval(core, {
    ...{ tenant, id, session: approval.session, approvedBy: approval.approvedBy, by: principal },
    ...{ action: parsed(ApprovalDecision, decided.action), reason: decided.reason, asserted: null },
    expectedCeremonyHash: approval.ceremonyHash,
    credential: { kind: 'operator_bearer' },
    evidence: { credential: 'operator_bearer' },
  });
  return approvalView(moved, core.clock().getTime());
}

async function setBudget(
  core: Core,
  { tenant, principal }: Caller,
  { id, terms }: { id: string; terms: unknown },
): Promise<Budget> {
  const { params, body } = putBudget;
  const budgetId = parsed(params, { budget_id: id }).budget_id;
  const { budget } = await changeBudget(core, {
    ...{ tenant, id: budgetId, by: principal, terms: parsed(body, terms) },
    // A command replaces the current version, since its caller has read no earlier one.
    versionAfter: (current) => (current?.version ?? 0) + 1,
    carryOn: (row, wanted) => {
      assertSameMoney(row.used.spend_micros + row.reserved.spend_micros, row, wanted);
      return row;
    },
  });
  return budgetView(budget, core.clock().getTime());
}

async function sealEnvelope(
  core: Core,
  { tenant, principal: by }: Caller,
  request: unknown,
): Promise<EnvelopeManifest> {
  const {
    envelope: form,
    native_evidence_hash: nativeHash,
    subject,
    experimental,
  } = parsed(envelopeRoute.body, request);
  const deps = { ...core, findNative: (...named: [TenantId, typeof nativeHash]) => findNative(core, ...named) };
  return manifestView(
    await createEnvelope(deps, { tenant, by, form, nativeHash, subject, isExperimental: experimental }),
  );
}

type Parser<Value> = {
  safeParse(value: unknown): {
    data?: Value;
    error?: { issues: { path: PropertyKey[]; message: string }[] } | undefined;
  };
};

function parsed<Value>(schema: Parser<Value> | undefined, value: unknown): Value {
  const { data, error } = schema?.safeParse(value) ?? {};
  if (data !== undefined && error === undefined) return data;
  const [issue] = error?.issues ?? [];
  throw new AppError('INVALID_REQUEST', `${issue?.path.map(String).join('.') || 'The value'}: ${issue?.message}`);
}
