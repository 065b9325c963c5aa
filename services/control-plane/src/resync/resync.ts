import { ResyncState, type Resynced } from '@countersign/contracts/control-plane';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { recordAudit } from '../store/audit.ts';
import { instant } from '../store/instant.ts';
import { resyncConnector } from './resync-connector.ts';
import { resyncFences } from './resync-fences.ts';
import { resyncPolicy } from './resync-policy.ts';
import { resyncRelations } from './resync-relations.ts';

/** The number of compared items, and those that differed. */
export type Looked = Pick<Resynced, 'checked' | 'found' | 'is_whole'>;

type Asked = { what: string; reason: string };
type By = { caller: WorkspaceCaller; requestId: string };

/** Throws NOT_FOUND for an undeclared connector, GOVERNANCE_UNAVAILABLE and GATEWAY_UNAVAILABLE. */
export async function resync(context: Context, { what, reason }: Asked, { caller, requestId }: By): Promise<Resynced> {
  const looked = await look(context, what, caller);
  const state = worstOf(looked.found);
  const now = context.now();
  const act = { action: 'ops.resynced', actor: caller.userId, verdict: 'allow', subject: what, requestId } as const;
  const details = { reason, state, checked: looked.checked, found: looked.found.length };
  await context.transaction((tx) => recordAudit(tx, { scope: caller.workspaceId, ...act, details }, now));
  return { what, state, ...looked, at: instant(now) };
}

async function look(context: Context, what: string, caller: WorkspaceCaller): Promise<Looked> {
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
