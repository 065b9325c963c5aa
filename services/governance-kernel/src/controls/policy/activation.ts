import {
  instantOf,
  AppError,
  type DecisionId,
  type Digest,
  type Instant,
  type PrincipalId,
} from '@countersign/contracts';
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

/** An activation as it was sent, with its tenant and author. */
export function activationOf(sent: Sent, { tenant, by }: { tenant: string; by: PrincipalId }) {
  const { bundle, epoch, confirmed_at: confirmedAt, signature, decision_id: decisionId } = sent;
  return { tenant, bundle, epoch, confirmedAt, signature, by, ...(decisionId === undefined ? {} : { decisionId }) };
}

type Stated = { readonly epoch: number; readonly hash: Digest; readonly confirmedAtMs: number };

/**
 * The effect of a new statement. A higher epoch activates a bundle. The current epoch only confirms the current bundle.
 * Both need a later time than the current statement has, so old statements have no effect. `stands`: the statement is
 * the current one. Throws ILLEGAL_TRANSITION.
 */
export function moveOf(current: Stated | null, wanted: Stated): 'activate' | 'confirm' | 'stands' {
  if (current === null) return 'activate';
  const isSame = wanted.epoch === current.epoch && wanted.hash === current.hash;
  if (!isSame && wanted.epoch <= current.epoch)
    throw new AppError('ILLEGAL_TRANSITION', `The epoch must rise above ${current.epoch}`, {
      param: 'epoch',
      details: { active_epoch: current.epoch },
    });
  if (isSame && wanted.confirmedAtMs === current.confirmedAtMs) return 'stands';
  if (wanted.confirmedAtMs <= current.confirmedAtMs) {
    const confirmedAt = instantOf(current.confirmedAtMs);
    throw new AppError(
      'ILLEGAL_TRANSITION',
      `The policy was confirmed at ${confirmedAt}; a new statement must be later`,
      {
        param: 'confirmed_at',
        details: { active_confirmed_at: confirmedAt },
      },
    );
  }
  return isSame ? 'confirm' : 'activate';
}

/** The time of a new statement: now. If the current statement is not dated before now, 1 ms after its date. */
export function nextConfirmation(current: { readonly confirmedAtMs: number } | null, nowMs: number): Instant {
  return instantOf(Math.max(nowMs, (current?.confirmedAtMs ?? 0) + 1));
}
