import { isAppError } from '@countersign/contracts';
import { confirmActivation } from '@countersign/contracts/governance-kernel';
import { repeat } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { tenantOf } from '../policy/tenant-of.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { listUnconfirmed, noteConfirmed, noteReplaced } from '../store/policy-activations.ts';

const passMs = 30_000;
/** A kernel takes a policy for stale when nobody has confirmed it for long: a control plane that is dead confirms nothing. */
const confirmEveryMs = 600_000;
const atOnceMax = 100;

/** Keeps the policies fresh that were put into force here. */
export function startConfirmer(context: Context): { stop(): Promise<void> } {
  const passes = repeat({
    run: () => confirmAll(context),
    intervalMs: passMs,
    onFailure: (error) => context.log.warn('policy.confirmation_failed', { error }),
  });
  return { stop: passes.close };
}

/** One that cannot be confirmed holds up no other. */
async function confirmAll(context: Context): Promise<void> {
  const { database, now } = context;
  const before = new Date(now().getTime() - confirmEveryMs);
  for (const stale of await listUnconfirmed(database.reader, before, atOnceMax))
    await confirmOne(context, stale).catch((error: unknown) => {
      context.log.warn('policy.confirmation_failed', { workspace_id: stale.workspaceId, error });
    });
}

type Stale = Awaited<ReturnType<typeof listUnconfirmed>>[number];

async function confirmOne(
  { kernel, transaction, now }: Context,
  { id, workspaceId, decisionId }: Stale,
): Promise<void> {
  const asked = kernel.own({ confirmActivation });
  const input = { params: { tenant: tenantOf(workspaceId) }, body: { decision_id: decisionId } };
  try {
    await answerOf('kernel', () => asked.confirmActivation(input));
    await transaction((tx) => noteConfirmed(tx, id, now()));
  } catch (error) {
    if (!isAppError(error) || error.code !== 'DECISION_MISMATCH') throw error;
    // Another bundle is in force, which somebody else keeps fresh.
    await transaction((tx) => noteReplaced(tx, id));
  }
}
