import { repeat } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { deliverCommands } from '../ops/deliver-commands.ts';
import { listUndeliveredScopes } from '../store/stops.ts';

/** A kernel that is available again receives the missed commands within a second. */
const passMs = 1_000;
const commandsOfPass = 100;

/**
 * Delivers commands that no request could deliver, because the kernel was unavailable or the process died. Every
 * replica may run it at the same time.
 */
export function startCourier(context: Context): { stop(): Promise<void> } {
  const state = { after: '' };
  const passes = repeat({
    run: () => pass(context, state),
    intervalMs: passMs,
    clockGuard: context.clockGuard,
    onFailure: (error) => context.log.warn('stops.undelivered', { error }),
  });
  return { stop: passes.close };
}

/**
 * Ends at the first failure, since an unavailable kernel affects all scopes. The next pass continues after the failed
 * scope.
 */
async function pass(context: Context, state: { after: string }): Promise<void> {
  const input = { after: state.after, limit: commandsOfPass };
  const { scopes, mayBeMore } = await listUndeliveredScopes(context.database.reader, input);
  state.after = '';
  for (const scope of scopes) {
    state.after = scope;
    await deliverCommands(context, scope);
  }
  if (!mayBeMore) state.after = '';
}
