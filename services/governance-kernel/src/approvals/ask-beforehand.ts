import { AppError, type PrincipalId } from '@countersign/contracts';
import { decisionWork, neededRelations, usesOf, type Fact, type RegistryFact } from '@countersign/policy';
import type { NewEvent } from '@countersign/messaging';
import { announcementStatement, receiptIdOf } from '@countersign/receipts';
import type { NamedCall } from '../call/governed-call.ts';
import { judgedOf, type Judged } from '../call/judged.ts';
import { normalise, toolOf, type Hasher, type SealedIntent } from '../call/normalise.ts';
import { approvalRequestedEvent } from '../events.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import { put } from '../ledger/control.ts';
import type { GroupCommit } from '../ledger/group-commit.ts';
import type { LoadedPolicy } from '../policy/loaded-policy.ts';
import { activePolicy, isActive, wantedPolicies } from '../policy/policy-heads.ts';
import { underActivePolicy, type PolicyChanged, type PolicySource } from '../policy/under-active-policy.ts';
import { relationsOf, type HeldRelations, type RelationSource } from '../relations/relation-source.ts';
import {
  stands,
  underStandingRelations,
  wantedRelations,
  type RelationsChanged,
} from '../relations/under-standing-relations.ts';
import type { ToolResolver } from '../registry/tool-resolver.ts';
import type { ApprovalRow } from './approval-row.ts';
import type { ArgsCipher } from './args-cipher.ts';
import { approvals } from './approvals.ts';
import { wholeGlass } from './break-glass.ts';
import { withCeremonyHash } from './ceremony.ts';
import { askedCall } from './pending.ts';
import { preconditionsOf } from './preconditions.ts';
import { instant } from './timelock.ts';

export type AskParts = {
  ledger: GroupCommit;
  policies: PolicySource;
  relations: RelationSource;
  tools: ToolResolver;
  hasher: Hasher;
  clock: () => Date;
  newUlid: (nowMs: number) => string;
  settings: { argsCipher: ArgsCipher; newEvent: NewEvent };
};

/** `sponsor`: the person behind the question, where the caller is no person. */
type Question = { call: NamedCall; expiresInSeconds: number; sponsor?: PrincipalId } & Pick<
  ApprovalRow,
  'reason' | 'quorum' | 'approvers' | 'scope' | 'timelockSeconds'
>;

/**
 * Opens the approval of one exact call before it is made, under the policy that is active now. Its tool is resolved and
 * the call is normalised and judged as it will be when it comes, so the approval fits it on every route. It decides
 * nothing; the call takes the whole cycle. Throws POLICY_DENIED where no approval could ever fit: without a policy, and
 * for a call that cannot be decided about.
 */
export async function askBeforehand(parts: AskParts, question: Question): Promise<ApprovalRow> {
  const { call } = question;
  const tool = toolOf(call);
  const resolution = tool === null ? null : await parts.tools.resolve(tool, call.caller.tenant);
  const { tenant } = call.caller;
  const asked = await underActivePolicy(parts.policies, tenant, async (policy) => {
    const work = decisionWork();
    const { intent, fault } = normalise(parts.hasher, call, { resolution, policy: policy?.policy ?? null, work });
    if (fault !== null) throw new AppError('POLICY_DENIED', fault, { reasonCode: 'MALFORMED_ARGUMENTS' });
    const needed = policy === null ? null : neededRelations(policy.policy, intent, work);
    return await underStandingRelations({ source: parts.relations, tenant, needed }, (held) => {
      const nowMs = parts.clock().getTime();
      const environment = { now: instant(nowMs), relations: relationsOf(held) };
      const judged = judgedOf(parts.hasher, call, { intent, policy: policy?.policy ?? null, ...environment });
      const registry = resolution?.kind === 'registered' ? resolution.registry : null;
      const known = { question, intent, judged, registry, policy, held };
      return openQuestion(parts, { ...known, nowMs, ulid: parts.newUlid(nowMs) });
    });
  });
  return asked.approval;
}

type Opened = PolicyChanged | RelationsChanged | { kind: 'asked'; approval: ApprovalRow };
type Asked = {
  question: Question;
  intent: SealedIntent;
  judged: Judged;
  /** The registry fact of a server's tool, as it was seen just now. */
  registry: Fact<RegistryFact> | null;
  policy: LoadedPolicy | null;
  held: HeldRelations;
  ulid: string;
  nowMs: number;
};

function openQuestion(parts: AskParts, asked: Asked): Promise<Opened> {
  const { policy, held, ulid } = asked;
  const { caller, session } = asked.question.call;
  const chain = { tenant: caller.tenant, session };
  return parts.ledger.submit({
    chain,
    wants: [...wantedPolicies(caller.tenant), ...wantedRelations(held, caller.tenant)],
    conclude: (batch: LedgerBatch): (() => Opened) => {
      if (!isActive(activePolicy(batch, caller.tenant), policy)) return () => ({ kind: 'policy_changed' });
      if (!stands(batch, held, caller.tenant)) return () => ({ kind: 'relations_changed' });
      const approval = questionRow(parts, { ...asked, nowMs: batch.issuedMs(chain, asked.nowMs) });
      batch.seal(announcementStatement(parts.hasher.provider, announced(approval, ulid)), () => ({
        changes: [put(approvals, approval)],
        events: [approvalRequestedEvent(parts.settings, approval)],
      }));
      return () => ({ kind: 'asked', approval });
    },
  });
}

function questionRow({ hasher, settings }: AskParts, asked: Asked): ApprovalRow {
  const { ulid, nowMs, intent, judged, question, policy } = asked;
  const { call, reason, quorum, approvers, scope, expiresInSeconds, timelockSeconds } = question;
  if (policy === null)
    throw new AppError('POLICY_DENIED', 'Without an active policy there is nothing to approve under', {
      reasonCode: 'POLICY_MISSING',
    });
  return withCeremonyHash(hasher.provider, {
    ...askedCall(settings.argsCipher, { ulid, call, sponsor: sponsorOf(question), intent, judged }),
    state: 'pending',
    ...{ policyHash: policy.hash, policyEpoch: policy.epoch, receiptId: receiptIdOf(ulid) },
    preconditions: preconditionsOf(asked.registry, { asked: {}, budgets: [] }),
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

/** The request is sealed, as every change to the approvals of a session is. */
function announced(approval: ApprovalRow, ulid: string) {
  const { tenant, session, tool, resource, effectLevel, argsHash, policyHash, policyEpoch } = approval;
  return {
    ...{ tenant, session, tool, resource, effectLevel, argsHash, policyHash, policyEpoch, ulid },
    at: instant(approval.createdAtMs),
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
