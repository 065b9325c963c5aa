import {
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
import { fencesInForce, movedOrg, wantedFences, type OrgMoved } from '../fences/in-force.ts';
import type { KnownOrgs } from '../fences/known-orgs.ts';
import { underStandingOrg } from '../fences/under-standing-org.ts';
import { identities, wantedIdentity } from '../identities/identities.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import type { KeyGuard } from '../ledger/key-guard.ts';
import { put, wanted, type Wanted } from '../ledger/control.ts';
import { activationSignatures, type SignatureRow } from '../policy/activation-signatures.ts';
import { instantOf, nextConfirmation } from '../policy/activation.ts';
import type { Confirmations } from '../policy/confirmations.ts';
import { activePolicy, policyHeads, wantedPolicies } from '../policy/policy-heads.ts';
import { settingStatement, type SettingParts } from '../policy/setting-statement.ts';
import { ownSession } from '../ledger/own-sessions.ts';

type Parts = SettingParts & {
  confirmations: Confirmations;
  signers: { policies: Signer };
  keyGuard: Pick<KeyGuard, 'assertCounting'>;
  orgs: KnownOrgs;
  findDecision(tenant: TenantId, id: DecisionId): Promise<ReceiptPayload | null>;
};

type Asked = { tenant: TenantId; decisionId: DecisionId; policyHash: Digest; epoch: number; reportHash: Digest };

/** A permitted change must be made soon, while its report is true. */
const decisionAgeMaxMs = 600_000;

/**
 * Signs the one activation that a decision allows, and seals that. The decision is used with the signature, or not at
 * all; the same request again is answered with what was signed. A caller that is fenced or revoked by then gets
 * nothing, not even a repeated answer. Throws NOT_FOUND, DECISION_REFUSED, DECISION_MISMATCH, DECISION_EXPIRED,
 * DECISION_USED and ILLEGAL_TRANSITION for an epoch that is not the next.
 */
export async function signActivation(parts: Parts, asked: Asked): Promise<SignatureRow> {
  const { tenant, decisionId } = asked;
  const allowed = await parts.findDecision(tenant, decisionId);
  if (allowed?.kind !== 'decision') throw new AppError('NOT_FOUND', 'There is no such decision');
  assertAllows(allowed, asked);
  await parts.keyGuard.assertCounting(['policies']);
  const { row } = await underStandingOrg(parts.orgs, tenant, (org) => signOnce(parts, asked, { allowed, org }));
  return row;
}

type Allowed = { allowed: ReceiptPayload; org: OrgId | null };

type SignedOnce = { kind: 'signed'; row: SignatureRow };

async function signOnce(parts: Parts, asked: Asked, { allowed, org }: Allowed): Promise<SignedOnce | OrgMoved> {
  const { tenant, decisionId } = asked;
  const nowMs = parts.clock().getTime();
  const chain = { tenant, session: ownSession('policy') };
  const author = { tenant, principal: allowed.principal_id, org };
  return await parts.ledger.submit<SignedOnce | OrgMoved>({
    chain,
    wants: [wanted(activationSignatures, { tenant, decisionId }), ...wantedPolicies(tenant), ...wantedStops(author)],
    conclude: (batch) => {
      const moved = movedOrg(batch, fencedAs(author));
      if (moved !== null) return () => moved;
      assertUnstopped(batch, author, nowMs);
      const signed = batch.row(activationSignatures, { tenant, decisionId });
      if (signed !== null) {
        assertSame(signed, asked);
        return () => ({ kind: 'signed', row: signed });
      }
      assertTimely(batch, allowed, nowMs);
      const row = signedNow(parts, batch, { ...asked, nowMs });
      const { confirmedAtMs, keyId, signature: value } = row;
      const setting = {
        ...{ decision_id: decisionId, report_hash: row.reportHash, policy_hash: row.policyHash, epoch: row.epoch },
        ...{ confirmed_at: instantOf(confirmedAtMs), signature: { alg: 'Ed25519', key_id: keyId, value } },
      };
      const resource = `activation:${tenant}`;
      const said = { ...chain, by: allowed.principal_id, nowMs, action: 'policy.sign', resource, setting } as const;
      batch.seal(settingStatement(parts, said), () => ({ changes: [put(activationSignatures, row)] }));
      return () => ({ kind: 'signed', row });
    },
  });
}

type Author = { tenant: TenantId; principal: PrincipalId; org: OrgId | null };

/** The change names no tool, so no fence of one is around it. */
const fencedAs = ({ tenant, principal, org }: Author) => ({
  call: { caller: { tenant, principal, scopes: [] } },
  org,
  intent: { action: 'policy.change', tool: null, resource: null, args: {} },
});

/** Who decided may be an agent or an operator; the registry keeps them apart. */
const kinds = ['agent', 'operator'] as const;

function wantedStops(author: Author): Wanted[] {
  return [...wantedFences(fencedAs(author)), ...kinds.map((kind) => wantedIdentity(author, kind))];
}

/** A decision of a moment ago says nothing about who was stopped since. */
function assertUnstopped(batch: LedgerBatch, author: Author, nowMs: number): void {
  const { tenant, principal } = author;
  const stop = fencesInForce(batch, fencedAs(author), nowMs).find(stopsEveryCall);
  if (stop !== undefined)
    throw new AppError('DECISION_REFUSED', `A fence stands around ${stop.scope}, and nothing is signed inside`, {
      param: 'decision_id',
    });
  const isRevoked = kinds.some(
    (kind) => (batch.row(identities, { tenant, kind, principal })?.revokedAtMs ?? null) !== null,
  );
  if (isRevoked)
    throw new AppError('DECISION_REFUSED', 'The principal who made this decision has been revoked', {
      param: 'decision_id',
    });
}

function assertAllows(allowed: ReceiptPayload, { policyHash, reportHash }: Asked): void {
  const { action, tool, verdict, shadow, resource, principal_id, effect_level: effect } = allowed;
  if (action !== 'policy.change' || tool !== null || verdict !== 'ALLOW' || shadow)
    throw new AppError('DECISION_REFUSED', 'The decision allows no change of the policy', { param: 'decision_id' });
  // Judged as something milder, the rules about changes were not asked.
  if (graverEffect(leastEffectOf(action), effect) !== effect)
    throw new AppError('DECISION_REFUSED', 'The decision is about less than a change of the policy', {
      param: 'decision_id',
    });
  if (principal_id.startsWith('agent:') || keyOfPrincipal(principal_id) !== null)
    throw new AppError('DECISION_REFUSED', 'No agent and no key changes a policy', { param: 'decision_id' });
  if (resource !== `policy/${policyHash}?report=${reportHash}`)
    throw new AppError('DECISION_MISMATCH', 'The decision is about another policy or report', { param: 'policy_hash' });
}

function assertSame(signed: SignatureRow, { policyHash, epoch, reportHash }: Asked): void {
  if (signed.policyHash === policyHash && signed.epoch === epoch && signed.reportHash === reportHash) return;
  throw new AppError('DECISION_USED', 'The decision has signed another activation', { param: 'decision_id' });
}

/** A decision under another policy, or an old one, was made about another situation. */
function assertTimely(batch: LedgerBatch, allowed: ReceiptPayload, nowMs: number): void {
  const active = activePolicy(batch, allowed.tenant_id);
  if (!(nowMs - Date.parse(allowed.issued_at) <= decisionAgeMaxMs))
    throw new AppError('DECISION_EXPIRED', 'The decision is too old', { param: 'decision_id' });
  if (active?.hash !== allowed.policy_hash || active.epoch !== allowed.policy_epoch)
    throw new AppError('DECISION_EXPIRED', 'The policy has changed since the decision', { param: 'decision_id' });
}

function signedNow(
  { confirmations, signers }: Parts,
  batch: LedgerBatch,
  { nowMs, ...asked }: Asked & { nowMs: number },
): SignatureRow {
  const { tenant, policyHash, epoch } = asked;
  const own = batch.row(policyHeads, tenant);
  const newest = confirmations.newest(tenant);
  const standing = Math.max(own?.epoch ?? 0, newest?.epoch ?? 0);
  if (epoch !== standing + 1)
    throw new AppError('ILLEGAL_TRANSITION', `The next epoch is ${standing + 1}`, {
      param: 'epoch',
      details: { active_epoch: standing },
    });
  const statedMs = own !== null && confirmations.isSigned(own) ? own.confirmedAtMs : 0;
  const confirmedAt = nextConfirmation({ confirmedAtMs: Math.max(statedMs, newest?.confirmedAtMs ?? 0) }, nowMs);
  const { keyId, sign } = signers.policies;
  const signature = encodeBase64Url(sign(activationBytes({ tenant, epoch, policyHash, confirmedAt })));
  return { ...asked, confirmedAtMs: Date.parse(confirmedAt), keyId, signature };
}
