import { AppError, type Digest, type PrincipalId } from '@countersign/contracts';
import type { PolicyBundle, Signature } from '@countersign/contracts/governance-kernel';
import { activationBytes } from '@countersign/receipts';
import { nextConfirmation } from './activation.ts';
import type { Activated, Policies } from './policies.ts';
import type { PolicyHead } from './policy-heads.ts';

export type KeepParts = {
  policies: Policies;
  sign(bytes: Uint8Array): Signature;
  clock: () => Date;
  /** How old a statement becomes before there is a new one. */
  confirmEveryMs: number;
};

/** `replaces`: whatever else is active gives way to it. */
type Kept = {
  tenant: string;
  bundle: PolicyBundle;
  policyHash: Digest;
  by: PrincipalId;
  replaces: boolean;
  /** Under this epoch and no other. */
  epoch?: number;
};

/**
 * Makes a bundle of the kernel's own the active one under a new epoch, and confirms it from time to time. Each
 * confirmation is signed and sealed, and changes the facts of all decisions, so there are few. If two kernels do so at
 * once, one is late, and reads again. Null: there was nothing to state.
 */
export async function keepActive(parts: KeepParts, kept: Kept): Promise<Activated | null> {
  try {
    return await stateOnce(parts, kept, null);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'ILLEGAL_TRANSITION') throw error;
    return await stateOnce(parts, kept, parts.policies.standing(kept.tenant).newest);
  }
}

/** `known`: the newest statement that was ever seen, which counts where the head that held it is lost. */
async function stateOnce(
  { policies, sign, clock, confirmEveryMs }: KeepParts,
  kept: Kept,
  known: PolicyHead | null,
): Promise<Activated | null> {
  const { tenant, bundle, policyHash, by } = kept;
  await policies.reload(tenant);
  const { active, isSigned } = policies.standing(tenant);
  const isSame = active?.hash === policyHash && (kept.epoch ?? active.epoch) === active.epoch;
  if (active !== null && !isSame && !kept.replaces) return null;
  const nowMs = clock().getTime();
  if (isSame && isSigned && nowMs - active.confirmedAtMs < confirmEveryMs) return null;
  const risen = Math.max(active?.epoch ?? 0, known?.epoch ?? 0) + 1;
  const epoch = kept.epoch ?? (isSame ? active.epoch : risen);
  const confirmedAt = nextConfirmation(isSigned ? active : known, nowMs);
  const signature = sign(activationBytes({ tenant, epoch, policyHash, confirmedAt }));
  return await policies.activate({ tenant, bundle, epoch, confirmedAt, signature, by });
}
