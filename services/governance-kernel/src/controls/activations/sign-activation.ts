import {
  instantOf,
  AppError,
  keyOfPrincipal,
  type DecisionId,
  type Digest,
  type PrincipalId,
  type TenantId,
} from '@countersign/contracts';
import { leastEffectOf, type OrgId, type ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { encodeBase64Url, type Signer } from '@countersign/crypto';
import { graverEffect } from '@countersign/policy';
import { activationBytes } from '@countersign/receipts';
import { stopsEveryCall } from '../fences/fence-row.ts';
import { currentOrg } from '../fences/current-org.ts';
import { fenceSets, fencesInForce, wantedFences } from '../fences/in-force.ts';
import type { KnownOrgs } from '../fences/known-orgs.ts';
import { identities, wantedIdentity } from '../identities/identities.ts';
import type { LedgerBatch } from '../../ledger/batch.ts';
import { findOutdated, withCurrentState, type Outdated } from '../../ledger/cached-state.ts';
import type { KeyGuard } from '../../ledger/key-guard.ts';
import { put, wanted, type Wanted } from '../../ledger/control.ts';
import { activationSignatures, type SignatureRow } from '../policy/activation-signatures.ts';
import { nextConfirmation } from '../policy/activation.ts';
import type { Confirmations } from '../policy/confirmations.ts';
import { activePolicy, policyHeads, wantedPolicies } from '../policy/policy-heads.ts';
import { settingStatement, type SettingDeps } from '../policy/setting-statement.ts';
import { ownSession } from '../../ledger/own-sessions.ts';

type Deps = SettingDeps & {
  confirmations: Confirmations;
  signers: { policies: Signer };
  keyGuard: Pick<KeyGuard, 'assertCounting'>;
  orgs: KnownOrgs;
  findDecision(tenant: TenantId, id: DecisionId): Promise<ReceiptPayload | null>;
};

type Input = { tenant: TenantId; decisionId: DecisionId; policyHash: Digest; epoch: number; reportHash: Digest };

/** The longest age of a decision. A permitted change must be made soon, while its report is still accurate. */
const decisionAgeMaxMs = 600_000;

/**
 * Signs the one activation that a decision permits, and seals the signature, which uses the decision up. A repeated
 * request gets the same signature. If the decider has been stopped or revoked since, even a repeated request is
 * refused. Throws NOT_FOUND, DECISION_REFUSED, DECISION_MISMATCH, DECISION_EXPIRED, DECISION_USED and
 * ILLEGAL_TRANSITION for an epoch that is not the next.
 */
export async function signActivation(deps: Deps, input: Input): Promise<SignatureRow> {
  const { tenant, decisionId } = input;
  const allowed = await deps.findDecision(tenant, decisionId);
  if (allowed?.kind !== 'decision') throw new AppError('NOT_FOUND', 'The tenant has no decision with this ID');
  assertAllows(allowed, input);
  await deps.keyGuard.assertCounting(['policies']);
  const organisation = currentOrg(deps.orgs);
  const { row } = await withCurrentState(() => signOnce(deps, input, { allowed, organisation }));
  return row;
}

type Allowed = { allowed: ReceiptPayload; organisation: ReturnType<typeof currentOrg> };

type SignedOnce = { kind: 'signed'; row: SignatureRow };

async function signOnce(deps: Deps, input: Input, { allowed, organisation }: Allowed): Promise<SignedOnce | Outdated> {
  const { tenant, decisionId } = input;
  const nowMs = deps.clock().getTime();
  const chain = { tenant, session: ownSession('policy') };
  const author = { tenant, principal: allowed.principal_id, org: organisation.current(tenant) };
  return await deps.ledger.submit<SignedOnce | Outdated>({
    chain,
    wants: [wanted(activationSignatures, { tenant, decisionId }), ...wantedPolicies(tenant), ...wantedStops(author)],
    conclude: (batch) => {
      const outdated = findOutdated([organisation], batch, { call: { caller: { tenant } }, org: author.org });
      if (outdated !== null) return () => outdated;
      assertUnstopped(batch, author, nowMs);
      const signed = batch.row(activationSignatures, { tenant, decisionId });
      if (signed !== null) {
        assertSame(signed, input);
        return () => ({ kind: 'signed', row: signed });
      }
      assertTimely(batch, allowed, nowMs);
      const row = signedNow(deps, batch, { ...input, nowMs });
      const { confirmedAtMs, keyId, signature: value } = row;
      const setting = {
        ...{ decision_id: decisionId, report_hash: row.reportHash, policy_hash: row.policyHash, epoch: row.epoch },
        ...{ confirmed_at: instantOf(confirmedAtMs), signature: { alg: 'Ed25519', key_id: keyId, value } },
      };
      const resource = `activation:${tenant}`;
      const statement = {
        ...chain,
        by: allowed.principal_id,
        nowMs,
        action: 'policy.sign',
        resource,
        setting,
      } as const;
      batch.seal(settingStatement(deps, statement), () => ({ changes: [put(activationSignatures, row)] }));
      return () => ({ kind: 'signed', row });
    },
  });
}

type Author = { tenant: TenantId; principal: PrincipalId; org: OrgId | null };

/** The change names no tool, so no fence on a tool applies. */
function fencedAs({ tenant, principal, org }: Author) {
  const call = { caller: { tenant, principal, scopes: [] } };
  const intent = { action: 'policy.change', tool: null, resource: null, args: {} };
  return { call, intent, fenceSets: fenceSets(call, intent, org) };
}

/** The decider may be an agent or an operator, which the registry stores separately. */
const kinds = ['agent', 'operator'] as const;

function wantedStops(author: Author): Wanted[] {
  return [...wantedFences(fencedAs(author)), ...kinds.map((kind) => wantedIdentity(author, kind))];
}

/** Throws DECISION_REFUSED when a stop covers the decider's calls, or the decider has been revoked. */
function assertUnstopped(batch: LedgerBatch, author: Author, nowMs: number): void {
  const { tenant, principal } = author;
  const stop = fencesInForce(batch, fencedAs(author), nowMs).find(stopsEveryCall);
  if (stop !== undefined)
    throw new AppError(
      'DECISION_REFUSED',
      `A stop is in force for ${stop.scope}, so nothing is signed. Lift the stop and try again`,
      {
        param: 'decision_id',
      },
    );
  const isRevoked = kinds.some(
    (kind) => (batch.row(identities, { tenant, kind, principal })?.revokedAtMs ?? null) !== null,
  );
  if (isRevoked)
    throw new AppError('DECISION_REFUSED', 'The principal who made this decision has been revoked', {
      param: 'decision_id',
    });
}

function assertAllows(allowed: ReceiptPayload, { policyHash, reportHash }: Input): void {
  const { action, tool, verdict, shadow, resource, principal_id, effect_level: effect } = allowed;
  if (action !== 'policy.change' || tool !== null || verdict !== 'ALLOW' || shadow)
    throw new AppError('DECISION_REFUSED', 'The decision does not allow a change of the policy', {
      param: 'decision_id',
    });
  // If the call was judged at a lower effect level, the rules about changes were not evaluated.
  if (graverEffect(leastEffectOf(action), effect) !== effect)
    throw new AppError(
      'DECISION_REFUSED',
      'The decision judged the change of the policy at too low an effect level. Request a new decision',
      {
        param: 'decision_id',
      },
    );
  if (principal_id.startsWith('agent:') || keyOfPrincipal(principal_id) !== null)
    throw new AppError('DECISION_REFUSED', 'Agents and keys cannot change a policy. A person must decide', {
      param: 'decision_id',
    });
  if (resource !== `policy/${policyHash}?report=${reportHash}`)
    throw new AppError('DECISION_MISMATCH', 'The decision is about a different policy or report', {
      param: 'policy_hash',
    });
}

function assertSame(signed: SignatureRow, { policyHash, epoch, reportHash }: Input): void {
  if (signed.policyHash === policyHash && signed.epoch === epoch && signed.reportHash === reportHash) return;
  throw new AppError('DECISION_USED', 'The decision was already used for another activation. Request a new decision', {
    param: 'decision_id',
  });
}

/** Throws DECISION_EXPIRED for a decision that is too old, or was made under a policy that is no longer active. */
function assertTimely(batch: LedgerBatch, allowed: ReceiptPayload, nowMs: number): void {
  const active = activePolicy(batch, allowed.tenant_id);
  if (!(nowMs - Date.parse(allowed.issued_at) <= decisionAgeMaxMs))
    throw new AppError('DECISION_EXPIRED', 'The decision has expired. Request a new one', { param: 'decision_id' });
  if (active?.hash !== allowed.policy_hash || active.epoch !== allowed.policy_epoch)
    throw new AppError('DECISION_EXPIRED', 'The policy changed after the decision. Request a new decision', {
      param: 'decision_id',
    });
}

function signedNow(
  { confirmations, signers }: Deps,
  batch: LedgerBatch,
  { nowMs, ...query }: Input & { nowMs: number },
): SignatureRow {
  const { tenant, policyHash, epoch } = query;
  const own = batch.row(policyHeads, tenant);
  const newest = confirmations.newest(tenant);
  const current = Math.max(own?.epoch ?? 0, newest?.epoch ?? 0);
  if (epoch !== current + 1)
    throw new AppError('ILLEGAL_TRANSITION', `The next epoch is ${current + 1}`, {
      param: 'epoch',
      details: { active_epoch: current },
    });
  const statedMs = own !== null && confirmations.isSigned(own) ? own.confirmedAtMs : 0;
  const confirmedAt = nextConfirmation({ confirmedAtMs: Math.max(statedMs, newest?.confirmedAtMs ?? 0) }, nowMs);
  const { keyId, sign } = signers.policies;
  const signature = encodeBase64Url(sign(activationBytes({ tenant, epoch, policyHash, confirmedAt })));
  return { ...query, confirmedAtMs: Date.parse(confirmedAt), keyId, signature };
}
