import { isAppError } from '@countersign/contracts';
import { getFence, type Fence, type FenceScope } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { deliverCommands } from '../ops/deliver-commands.ts';
import { targetOf } from '../ops/target.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { deliverAnew, findLatestCommand, getCommand, listScopes, type StoredCommand } from '../store/stops.ts';
import type { Looked } from './resync.ts';

type Deps = Pick<Context, 'log' | 'database' | 'kernel' | 'now' | 'transaction'>;

/** The most scopes that are compared. Each is read separately, while a person waits. */
const scopesMax = 200;

/** Compares the latest command of each scope with the fence at the kernel, and delivers lost commands again. */
export async function resyncFences(context: Deps, { workspaceId }: WorkspaceCaller): Promise<Looked> {
  const scopes = await listScopes(context.database.reader, workspaceId, scopesMax + 1);
  const looked = scopes.slice(0, scopesMax);
  const found: Looked['found'] = [];
  for (const scope of looked) found.push(...(await resyncScope(context, scope)));
  return { checked: looked.length, found, is_whole: scopes.length <= scopesMax };
}

async function resyncScope(context: Deps, scope: FenceScope): Promise<Looked['found']> {
  const { database, transaction, log } = context;
  const command = await findLatestCommand(database.reader, scope);
  if (command === null || isOver(command, await database.nowMs())) return [];
  const isWaiting = command.state === 'unconfirmed';
  if (!isWaiting && holds(await findFence(context, scope), command)) return [];
  await transaction((tx) => deliverAnew(tx, command));
  await deliverCommands(context, scope).catch((error: unknown) => log.warn('stop.undelivered', { scope, error }));
  const { state } = await getCommand(database.reader, command.id);
  const ref = targetOf(scope, command.workspaceId) ?? scope;
  if (state === 'effective') return [{ ref, state: 'repaired', note: `The kernel has ${command.id} again.` }];
  if (state === 'unconfirmed') return [{ ref, state, note: `The kernel has not confirmed ${command.id}.` }];
  return [{ ref, state: 'differs', note: `The fence at the kernel differs from ${command.id}.` }];
}

/** A command that the kernel never accepted, or whose time is over, has ended. */
function isOver({ state, expiresAt }: StoredCommand, nowMs: number): boolean {
  return state === 'outdated' || state === 'refused' || (expiresAt !== null && expiresAt.getTime() <= nowMs);
}

/** Whether the kernel has the fence of this command, or a later one, which replaced it. */
function holds(fence: Fence | null, { epoch, kind }: StoredCommand): boolean {
  return fence !== null && (fence.epoch > epoch || (fence.epoch === epoch && fence.kind === kind));
}

async function findFence({ kernel }: Pick<Context, 'kernel'>, scope: FenceScope): Promise<Fence | null> {
  try {
    return await answerOf('kernel', () => kernel.own({ getFence }).getFence({ params: { scope } }));
  } catch (error) {
    if (isAppError(error) && error.code === 'NOT_FOUND') return null;
    throw error;
  }
}
