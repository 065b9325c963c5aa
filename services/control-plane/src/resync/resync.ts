import { instantOf } from '@countersign/contracts';
import { ResyncState, type Resynced } from '@countersign/contracts/control-plane';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { recordAudit } from '../store/audit.ts';
import { resyncConnector } from './resync-connector.ts';
import { resyncFences } from './resync-fences.ts';
import { resyncPolicy } from './resync-policy.ts';
import { resyncRelations } from './resync-relations.ts';

type Deps = Pick<Context, 'log' | 'database' | 'gateway' | 'kernel' | 'now' | 'transaction'>;

/** The number of compared items, and those that differed. */
export type Looked = Pick<Resynced, 'checked' | 'found' | 'is_whole'>;

type Input = { what: string; reason: string };
type By = { caller: WorkspaceCaller; requestId: string };

/**
 * Compares the named state with the kernel, repairs it if possible, and records the result. Throws NOT_FOUND for an
 * unknown connector, GOVERNANCE_UNAVAILABLE and GATEWAY_UNAVAILABLE.
 */
export async function resync(context: Deps, { what, reason }: Input, { caller, requestId }: By): Promise<Resynced> {
  const looked = await look(context, what, caller);
  const state = worstOf(looked.found);
  const now = context.now();
  const act = { action: 'ops.resynced', actor: caller.userId, verdict: 'allow', subject: what, requestId } as const;
  const details = { reason, state, checked: looked.checked, found: looked.found.length };
  await context.transaction((tx) => recordAudit(tx, { scope: caller.workspaceId, ...act, details }, now));
  return { what, state, ...looked, at: instantOf(now) };
}

async function look(context: Deps, what: string, caller: WorkspaceCaller): Promise<Looked> {
  if (what === 'policy') return await resyncPolicy(context, caller);
  if (what === 'fences') return await resyncFences(context, caller);
  if (what === 'relations') return await resyncRelations(context, caller);
  return await resyncConnector(context, what.slice('connector:'.length), caller);
}

function worstOf(found: Looked['found']): ResyncState {
  const { options } = ResyncState;
  const rank = Math.max(0, ...found.map(({ state }) => options.indexOf(state)));
  return options[rank] ?? 'differs';
}
