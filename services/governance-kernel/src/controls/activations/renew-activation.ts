import { AppError, type DecisionId, type PrincipalId, type TenantId } from '@countersign/contracts';
import type { PolicyBundle } from '@countersign/contracts/governance-kernel';
import { encodeBase64Url, type Signer } from '@countersign/crypto';
import type { SignatureRow } from '../policy/activation-signatures.ts';
import { keepActive } from '../policy/keep-active.ts';
import type { Policies } from '../policy/policies.ts';

type Deps = {
  policies: Policies;
  signers: { policies: Signer };
  clock: () => Date;
  findSignature(tenant: TenantId, id: DecisionId): Promise<SignatureRow | null>;
  /** The bundle of this epoch, if it was ever active. */
  findBundle(tenant: TenantId, epoch: number): Promise<PolicyBundle | null>;
};

/**
 * The shortest time between two confirmations. Each confirmation changes the policy head, on which all decisions
 * depend. A caller that requests more often gets the current confirmation.
 */
const confirmEveryMs = 60_000;

/**
 * Confirms that the bundle of a decision is active, and seals the confirmation. It confirms only bundles that this
 * kernel signed for a decision. A manually signed bundle becomes stale when its signer stops confirming it. Throws
 * NOT_FOUND, DECISION_MISMATCH when another bundle is active, and the errors of an activation.
 */
export async function renewActivation(
  { policies, signers, clock, ...store }: Deps,
  { tenant, decisionId, by }: { tenant: TenantId; decisionId: DecisionId; by: PrincipalId },
): Promise<SignatureRow> {
  const signed = await store.findSignature(tenant, decisionId);
  if (signed === null) throw new AppError('NOT_FOUND', 'No activation was signed for this decision');
  const { epoch, policyHash } = signed;
  const bundle = await store.findBundle(tenant, epoch);
  const { keyId, sign } = signers.policies;
  const keep = {
    ...{ policies, clock, confirmEveryMs },
    sign: (bytes: Uint8Array) => ({ alg: 'Ed25519' as const, key_id: keyId, value: encodeBase64Url(sign(bytes)) }),
  };
  if (bundle !== null) await keepActive(keep, { tenant, bundle, policyHash, epoch, by, replaces: false });
  await policies.reload(tenant);
  const { active } = policies.stateOf(tenant);
  if (active?.epoch !== epoch || active.hash !== policyHash)
    throw new AppError('DECISION_MISMATCH', 'The bundle of this decision is not active', {
      param: 'decision_id',
    });
  const { confirmedAtMs, keyId: statedBy, signature } = active;
  return { ...signed, confirmedAtMs, keyId: statedBy, signature };
}
