import { AppError } from '@countersign/contracts';
import type { LoadedPolicy } from './loaded-policy.ts';

export type PolicySource = {
  /** The bundle in memory for this tenant, or null. */
  current(tenant: string): LoadedPolicy | null;
  /** Loads what the database holds. */
  reload(tenant: string): Promise<void>;
};

/** The active bundle is not the one in memory: load it and come back. */
export type PolicyChanged = { kind: 'policy_changed' };

/** A bundle that changes more often than this within one decision is an attack or a fault. */
const policyReloadsMax = 5;

/** Tries under the bundle in memory until that is the active one. Throws RECEIPT_STORE_UNAVAILABLE when it keeps changing. */
export async function underActivePolicy<Done extends { kind: string }>(
  policies: PolicySource,
  tenant: string,
  attempt: (policy: LoadedPolicy | null) => Promise<Done | PolicyChanged>,
): Promise<Exclude<Done, PolicyChanged>> {
  for (let attempts = 0; attempts < policyReloadsMax; attempts += 1) {
    const done = await attempt(policies.current(tenant));
    if (done.kind !== 'policy_changed') return done as Exclude<Done, PolicyChanged>; // the one kind that is left out
    await policies.reload(tenant);
  }
  throw new AppError('RECEIPT_STORE_UNAVAILABLE', 'The policy keeps changing; nothing was executed');
}
