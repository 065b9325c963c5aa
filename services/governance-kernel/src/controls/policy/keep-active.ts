import { AppError, type Digest, type PrincipalId } from '@countersign/contracts';
import type { PolicyBundle, Signature } from '@countersign/contracts/governance-kernel';
import { activationBytes } from '@countersign/receipts';
import { nextConfirmation } from './activation.ts';
import type { Activated, Policies } from './policies.ts';
import type { PolicyHead } from './policy-heads.ts';

export type KeepDeps = {
  policies: Policies;
  sign(bytes: Uint8Array): Signature;
  clock: () => Date;
  /** The age of a statement at which a new one is signed. */
  confirmEveryMs: number;
};

/** `replaces`: whether the bundle may replace a different active bundle. */
type Kept = {
  tenant: string;
  bundle: PolicyBundle;
  policyHash: Digest;
  by: PrincipalId;
  replaces: boolean;
  /** The epoch of the bundle. If absent, a new bundle gets the next epoch. */
  epoch?: number;
};

/**
 * Activates a bundle of the kernel under a new epoch, or confirms it when the last statement is old. Confirmations are
 * rare, since each one is signed, sealed, and changes the facts of all decisions. If two kernels do so at once, one
 * fails and tries again. `null` when no statement was needed, or when another active bundle may not be replaced.
 */
export async function keepActive(deps: KeepDeps, kept: Kept): Promise<Activated | null> {
  try {
    return await stateOnce(deps, kept, null);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'ILLEGAL_TRANSITION') throw error;
    return await stateOnce(deps, kept, deps.policies.stateOf(kept.tenant).newest);
  }
}

/** `policyHead`: the newest known statement. A new statement must exceed it, even if the database has lost its head. */
async function stateOnce(
  { policies, sign, clock, confirmEveryMs }: KeepDeps,
  kept: Kept,
  policyHead: PolicyHead | null,
): Promise<Activated | null> {
  const { tenant, bundle, policyHash, by } = kept;
  await policies.reload(tenant);
  const { active, isSigned } = policies.stateOf(tenant);
  const isSame = active?.hash === policyHash && (kept.epoch ?? active.epoch) === active.epoch;
  if (active !== null && !isSame && !kept.replaces) return null;
  const nowMs = clock().getTime();
  if (isSame && isSigned && nowMs - active.confirmedAtMs < confirmEveryMs) return null;
  const risen = Math.max(active?.epoch ?? 0, policyHead?.epoch ?? 0) + 1;
  const epoch = kept.epoch ?? (isSame ? active.epoch : risen);
  const confirmedAt = nextConfirmation(isSigned ? active : policyHead, nowMs);
  const signature = sign(activationBytes({ tenant, epoch, policyHash, confirmedAt }));
  return await policies.activate({ tenant, bundle, epoch, confirmedAt, signature, by });
}
