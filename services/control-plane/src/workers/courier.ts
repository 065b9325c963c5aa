import { repeat } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { deliverCommands } from '../ops/deliver-commands.ts';
import { listUndeliveredScopes } from '../store/stops.ts';

/** A kernel that is back receives the missed commands within a second. */
const passMs = 1_000;
const commandsOfPass = 100;

/** Delivers what no request could: the kernel was away, or the process that served it died. Safe on every replica at once. */
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

/** Ends with the first failure, since the kernel is away for all; the next pass goes on behind the scope that failed. */
async function pass(context: Context, state: { after: string }): Promise<void> {
  const asked = { after: state.after, limit: commandsOfPass };
  const { scopes, mayBeMore } = await listUndeliveredScopes(context.database.reader, asked);
  state.after = '';
  for (const scope of scopes) {
    state.after = scope;
    await deliverCommands(context, scope);
  }
  if (!mayBeMore) state.after = '';
}
