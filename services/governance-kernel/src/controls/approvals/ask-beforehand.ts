import { instantOf, AppError, type PrincipalId } from '@countersign/contracts';
import { decisionWork, neededRelations, usesOf, type Fact, type RegistryFact } from '@countersign/policy';
import type { NewEvent } from '@countersign/messaging';
import { announcementStatement, receiptIdOf } from '@countersign/receipts';
import type { NamedCall } from '../../call/governed-call.ts';
import { judgedOf, type Judged } from '../../call/judged.ts';
import { normalise, toolOf, type Hasher, type SealedIntent } from '../../call/normalise.ts';
import { approvalRequestedEvent } from '../../events.ts';
import type { LedgerBatch } from '../../ledger/batch.ts';
import { findOutdated, withCurrentState, type ComparedState, type Outdated } from '../../ledger/cached-state.ts';
import { put } from '../../ledger/control.ts';
import type { GroupCommit } from '../../ledger/group-commit.ts';
import type { LoadedPolicy } from '../policy/loaded-policy.ts';
import { wantedPolicies } from '../policy/policy-heads.ts';
import { currentPolicy, type PolicySource } from '../policy/current-policy.ts';
import { notAsked, relationsOf, type HeldRelations, type RelationSource } from '../relations/relation-source.ts';
import { currentRelations, wantedRelations } from '../relations/current-relations.ts';
import type { ToolResolver } from '../../registry/tool-resolver.ts';
import type { ApprovalRow } from './approval-row.ts';
import type { ArgsCipher } from './args-cipher.ts';
import { approvals } from './approvals.ts';
import { wholeGlass } from './break-glass.ts';
import { withCeremonyHash } from './ceremony.ts';
import { askedCall } from './pending.ts';
import { preconditionsOf } from './preconditions.ts';

export type AskDeps = {
  ledger: GroupCommit;
  policies: PolicySource;
  relations: RelationSource;
  tools: ToolResolver;
  hasher: Hasher;
  clock: () => Date;
  newUlid: (nowMs: number) => string;
  settings: { argsCipher: ArgsCipher; newEvent: NewEvent };
};

/** `sponsor`: the person behind the request, when the caller is not a person. */
type Question = { call: NamedCall; expiresInSeconds: number; sponsor?: PrincipalId } & Pick<
  ApprovalRow,
  'reason' | 'quorum' | 'approvers' | 'scope' | 'timelockSeconds'
>;

/**
 * Opens the approval of one exact call before it is made, under the active policy. The call is resolved, normalised and
 * judged here as it is later when it is made. The approval therefore fits the call on every route. This does not decide
 * the call, which later passes the whole cycle. Throws POLICY_DENIED when no approval could fit: without a policy, and
 * for a malformed call.
 */
export async function askBeforehand(deps: AskDeps, question: Question): Promise<ApprovalRow> {
  const { call } = question;
  const tool = toolOf(call);
  const resolution = tool === null ? null : await deps.tools.resolve(tool, call.caller.tenant);
  const { tenant } = call.caller;
  const [activePolicy, relations] = [currentPolicy(deps.policies), currentRelations(deps.relations)];
  const answer = await withCurrentState(async () => {
    const policy = activePolicy.current(tenant);
    const work = decisionWork();
    const { intent, fault } = normalise(deps.hasher, call, { resolution, policy: policy?.policy ?? null, work });
    if (fault !== null) throw new AppError('POLICY_DENIED', fault, { reasonCode: 'MALFORMED_ARGUMENTS' });
    const needed = policy === null ? null : neededRelations(policy.policy, intent, work);
    const snapshot = needed === null ? notAsked : await relations.current({ tenant, needed });
    const nowMs = deps.clock().getTime();
    const environment = { now: instantOf(nowMs), relations: relationsOf(snapshot) };
    const judged = judgedOf(deps.hasher, call, { intent, policy: policy?.policy ?? null, ...environment });
    const registry = resolution?.kind === 'registered' ? resolution.registry : null;
    const input = { call, question, intent, judged, registry, policy, relations: snapshot };
    return await openQuestion(deps, { ...input, nowMs, ulid: deps.newUlid(nowMs) }, [activePolicy, relations]);
  });
  return answer.approval;
}

type Opened = Outdated | { kind: 'asked'; approval: ApprovalRow };
type Input = {
  call: NamedCall;
  question: Question;
  intent: SealedIntent;
  judged: Judged;
  /** The current registry fact of a server's tool. */
  registry: Fact<RegistryFact> | null;
  policy: LoadedPolicy | null;
  relations: HeldRelations;
  ulid: string;
  nowMs: number;
};

function openQuestion(deps: AskDeps, input: Input, states: readonly ComparedState<Input>[]): Promise<Opened> {
  const { relations, ulid } = input;
  const { caller, session } = input.call;
  const chain = { tenant: caller.tenant, session };
  return deps.ledger.submit({
    chain,
    wants: [...wantedPolicies(caller.tenant), ...wantedRelations(relations, caller.tenant)],
    conclude: (batch: LedgerBatch): (() => Opened) => {
      const outdated = findOutdated(states, batch, input);
      if (outdated !== null) return () => outdated;
      const approval = questionRow(deps, { ...input, nowMs: batch.issuedMs(chain, input.nowMs) });
      batch.seal(announcementStatement(deps.hasher.provider, announced(approval, ulid)), () => ({
        changes: [put(approvals, approval)],
        events: [approvalRequestedEvent(deps.settings, approval)],
      }));
      return () => ({ kind: 'asked', approval });
    },
  });
}

function questionRow({ hasher, settings }: AskDeps, input: Input): ApprovalRow {
  const { ulid, nowMs, intent, judged, question, policy } = input;
  const { call, reason, quorum, approvers, scope, expiresInSeconds, timelockSeconds } = question;
  if (policy === null)
    throw new AppError(
      'POLICY_DENIED',
      'The tenant has no active policy, so approvals cannot be requested. Activate one first',
      {
        reasonCode: 'POLICY_MISSING',
      },
    );
  return withCeremonyHash(hasher.provider, {
    ...askedCall(settings.argsCipher, { ulid, call, sponsor: sponsorOf(question), intent, judged }),
    state: 'pending',
    ...{ policyHash: policy.hash, policyEpoch: policy.epoch, receiptId: receiptIdOf(ulid) },
    preconditions: preconditionsOf(input.registry, { request: {}, budgets: [] }),
    ...{ reason, quorum, approvers: [...new Set(approvers)], scope, usesRemaining: usesOf(scope) },
    ...{ approvedBy: [], approvedWith: [], approvedAs: [], approvedCredentials: [] },
    rejectionReason: null,
    timelockSeconds,
    timelockUntilMs: null,
    ...wholeGlass,
    expiresAtMs: nowMs + expiresInSeconds * 1000,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  });
}

function sponsorOf({ sponsor, call }: Question): PrincipalId | null {
  return sponsor ?? call.caller.assertion?.sponsor ?? null;
}

/** The request is sealed, like every change of the approvals of a session. */
function announced(approval: ApprovalRow, ulid: string) {
  const { tenant, session, tool, resource, effectLevel, argsHash, policyHash, policyEpoch } = approval;
  return {
    ...{ tenant, session, tool, resource, effectLevel, argsHash, policyHash, policyEpoch, ulid },
    at: instantOf(approval.createdAtMs),
    principal: approval.requestedBy,
    kind: 'approval' as const,
    action: 'approval.request',
    verdict: 'ESCALATE' as const,
    reasonCode: 'APPROVAL_REQUIRED' as const,
    approvalId: approval.id,
    facts: {
      asked_intent_hash: approval.intentHash,
      asked_judged_hash: approval.judgedHash,
      ceremony_hash: approval.ceremonyHash,
    },
  };
}
