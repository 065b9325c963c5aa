import { AppError } from '@countersign/contracts';
import type { Digest } from '@countersign/contracts';
import type { Signature } from '@countersign/contracts/governance-kernel';
import { canonicalBytes, decodeBase64Url, type CryptoProvider } from '@countersign/crypto';

export type PolicyKey = { keyId: string; publicKey: Uint8Array };
type SignedActivation = { tenant: string; epoch: number; policyHash: Digest; signature: Signature };

/** The bytes that a policy key signs: who gets which bundle at which epoch. */
export function activationBytes({ tenant, epoch, policyHash }: Omit<SignedActivation, 'signature'>): Uint8Array {
  return canonicalBytes({
    type: 'countersign.policy-activation.v1',
    tenant_id: tenant,
    policy_hash: policyHash,
    epoch,
  });
}

export function isSignedByTrustedKey(
  provider: CryptoProvider,
  keys: readonly PolicyKey[],
  activation: SignedActivation,
): boolean {
  const key = keys.find(({ keyId }) => keyId === activation.signature.key_id);
  if (key === undefined) return false;
  return provider.verifyEd25519(
    key.publicKey,
    activationBytes(activation),
    decodeBase64Url(activation.signature.value),
  );
}

/** Epochs only rise; the same epoch again confirms the same bundle and nothing else. Throws ILLEGAL_TRANSITION. */
export function moveOf(
  active: { epoch: number; hash: Digest } | null,
  wanted: { epoch: number; hash: Digest },
): 'activate' | 'confirm' {
  if (active === null || wanted.epoch > active.epoch) return 'activate';
  if (wanted.epoch === active.epoch && wanted.hash === active.hash) return 'confirm';
  throw new AppError('ILLEGAL_TRANSITION', `The epoch must rise above ${active.epoch}`, {
    param: 'epoch',
    details: { active_epoch: active.epoch },
  });
}
