import { repeat } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { confirmInForce } from '../policy/confirm-in-force.ts';
import { isInForce, noteActivation } from '../policy/put-into-force.ts';
import { listUnconfirmed, listUnnoted, type StoredActivation } from '../store/policy-activations.ts';

const usualPassMs = 10_000;
/**
 * The interval between two confirmations of a policy. The kernel treats a policy without a recent confirmation as
 * stale.
 */
const confirmEveryMs = 600_000;
const atOnceMax = 100;
/** Longer than an activation takes. Until then, its requester may still be waiting for it. */
const unnotedMinMs = 30_000;
/** An activation that is not in force after this time was abandoned. */
const unnotedMaxMs = 86_400_000;

/** Confirms the policies that were activated here, so that they stay fresh. */
export function startConfirmer(context: Context, passMs = usualPassMs): { stop(): Promise<void> } {
  const passes = repeat({
    run: async () => {
      await takeOver(context);
      await confirmAll(context);
    },
    intervalMs: passMs,
    clockGuard: context.clockGuard,
    onFailure: (error) => context.log.warn('policy.confirmation_failed', { error }),
  });
  return { stop: passes.close };
}

/**
 * Takes over an activation whose process died after the kernel accepted it. Otherwise it would not be confirmed. An
 * activation that is not in force must be requested again by a person.
 */
async function takeOver(context: Context): Promise<void> {
  const nowMs = context.now().getTime();
  const times = { from: new Date(nowMs - unnotedMaxMs), to: new Date(nowMs - unnotedMinMs) };
  for (const activation of await listUnnoted(context.database.reader, { ...times, limit: atOnceMax }))
    await noteIfInForce(context, activation).catch((error: unknown) => {
      context.log.warn('policy.takeover_failed', { workspace_id: activation.workspaceId, error });
    });
}

async function noteIfInForce(context: Context, activation: StoredActivation): Promise<void> {
  if (await isInForce(context, activation)) await noteActivation(context, activation, null);
}

/** A policy that cannot be confirmed delays no other. */
async function confirmAll(context: Context): Promise<void> {
  const { database, now } = context;
  const before = new Date(now().getTime() - confirmEveryMs);
  for (const stale of await listUnconfirmed(database.reader, before, atOnceMax))
    await confirmInForce(context, stale).catch((error: unknown) => {
      context.log.warn('policy.confirmation_failed', { workspace_id: stale.workspaceId, error });
    });
}
