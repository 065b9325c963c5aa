import { AppError, type DecisionId, type Digest, type SessionId, type TenantId } from '@countersign/contracts';
import type { ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { encodeBase64Url, type Signer } from '@countersign/crypto';
import { activationBytes } from '@countersign/receipts';
import type { LedgerBatch } from '../ledger/batch.ts';
import { put, wanted } from '../ledger/control.ts';
import { activationSignatures, type SignatureRow } from './activation-signatures.ts';
import { instantOf, nextConfirmation } from './activation.ts';
import type { Confirmations } from './confirmations.ts';
import { activePolicy, policyHeads, wantedPolicies } from './policy-heads.ts';
import { settingStatement, type SettingParts } from './setting-statement.ts';

type Parts = SettingParts & {
  confirmations: Confirmations;
  signers: { policies: Signer };
  findDecision(tenant: TenantId, id: DecisionId): Promise<ReceiptPayload | null>;
};

type Asked = { tenant: TenantId; decisionId: DecisionId; policyHash: Digest; epoch: number; reportHash: Digest };

/** Whoever had a change allowed makes it at once, while what was reported about it is true. */
const decisionAgeMaxMs = 600_000;

/**
 * Signs the one activation that a decision allows, and seals that. The decision is used with the signature, or not at all; the same
 * request again is answered with what was signed. Throws NOT_FOUND, DECISION_REFUSED, DECISION_MISMATCH, DECISION_EXPIRED, DECISION_USED
 * and ILLEGAL_TRANSITION for an epoch that is not the next.
 */
export async function signActivation(parts: Parts, asked: Asked): Promise<SignatureRow> {
  const { tenant, decisionId } = asked;
  const allowed = await parts.findDecision(tenant, decisionId);
  if (allowed?.kind !== 'decision') throw new AppError('NOT_FOUND', 'There is no such decision');
  assertAllows(allowed, asked);
  const nowMs = parts.clock().getTime();
  const chain = { tenant, session: 'policy' as SessionId }; // within its schema
  return await parts.ledger.submit({
    chain,
    wants: [wanted(activationSignatures, { tenant, decisionId }), ...wantedPolicies(tenant)],
    conclude: (batch) => {
      const signed = batch.row(activationSignatures, { tenant, decisionId });
      if (signed !== null) {
        assertSame(signed, asked);
        return () => signed;
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
      return () => row;
    },
  });
}

function assertAllows(allowed: ReceiptPayload, { policyHash, reportHash }: Asked): void {
  const { action, tool, verdict, shadow, resource } = allowed;
  if (action !== 'policy.change' || tool !== null || verdict !== 'ALLOW' || shadow)
    throw new AppError('DECISION_REFUSED', 'The decision allows no change of the policy', { param: 'decision_id' });
  if (resource !== `policy/${policyHash}?report=${reportHash}`)
    throw new AppError('DECISION_MISMATCH', 'The decision is about another policy or report', { param: 'policy_hash' });
}

function assertSame(signed: SignatureRow, { policyHash, epoch, reportHash }: Asked): void {
  if (signed.policyHash === policyHash && signed.epoch === epoch && signed.reportHash === reportHash) return;
  throw new AppError('DECISION_USED', 'The decision has signed another activation', { param: 'decision_id' });
}

/** What was allowed under another policy, or long ago, was allowed about another situation. */
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
