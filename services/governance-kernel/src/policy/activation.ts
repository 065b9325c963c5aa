import { AppError, type DecisionId, type Digest, type Instant, type PrincipalId } from '@countersign/contracts';
import type { PolicyBundle, Signature } from '@countersign/contracts/governance-kernel';
import { decodeBase64Url, type CryptoProvider } from '@countersign/crypto';
import { activationBytes, type Activation } from '@countersign/receipts';

export type PolicyKey = { keyId: string; publicKey: Uint8Array };
type SignedActivation = Activation & { signature: Pick<Signature, 'key_id' | 'value'> };

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

type Sent = {
  bundle: PolicyBundle;
  epoch: number;
  confirmed_at: Instant;
  signature: Signature;
  decision_id?: DecisionId | undefined;
};

/** An activation as it was sent, for whom and by whom. */
export function activationOf(sent: Sent, { tenant, by }: { tenant: string; by: PrincipalId }) {
  const { bundle, epoch, confirmed_at: confirmedAt, signature, decision_id: decisionId } = sent;
  return { tenant, bundle, epoch, confirmedAt, signature, by, ...(decisionId === undefined ? {} : { decisionId }) };
}

type Stated = { readonly epoch: number; readonly hash: Digest; readonly confirmedAtMs: number };

/**
 * Epochs only rise; the same epoch again confirms the same bundle and nothing else. Each statement is later than the one that stands,
 * so an old one renews nothing; the very one that stands changes nothing. Throws ILLEGAL_TRANSITION.
 */
export function moveOf(standing: Stated | null, wanted: Stated): 'activate' | 'confirm' | 'stands' {
  if (standing === null) return 'activate';
  const isSame = wanted.epoch === standing.epoch && wanted.hash === standing.hash;
  if (!isSame && wanted.epoch <= standing.epoch)
    throw new AppError('ILLEGAL_TRANSITION', `The epoch must rise above ${standing.epoch}`, {
      param: 'epoch',
      details: { active_epoch: standing.epoch },
    });
  if (isSame && wanted.confirmedAtMs === standing.confirmedAtMs) return 'stands';
  if (wanted.confirmedAtMs <= standing.confirmedAtMs) {
    const confirmedAt = instantOf(standing.confirmedAtMs);
    throw new AppError('ILLEGAL_TRANSITION', `The policy was confirmed at ${confirmedAt}; a statement must be later`, {
      param: 'confirmed_at',
      details: { active_confirmed_at: confirmedAt },
    });
  }
  return isSame ? 'confirm' : 'activate';
}

/** The time of a new statement: now, and later than what stands, whatever the clocks of those who signed that said. */
export function nextConfirmation(standing: { readonly confirmedAtMs: number } | null, nowMs: number): Instant {
  return instantOf(Math.max(nowMs, (standing?.confirmedAtMs ?? 0) + 1));
}

export function instantOf(ms: number): Instant {
  return new Date(ms).toISOString() as Instant; // toISOString writes exactly this form
}
