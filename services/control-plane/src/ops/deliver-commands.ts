import { instantOrNull, isAppError, PrincipalId, startDeadline } from '@countersign/contracts';
import { getFence, putFence, type FenceScope } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { recordAudit } from '../store/audit.ts';
import { endDelivery, getCommand, listUndelivered, lockScope, raiseEpoch, type StoredCommand } from '../store/stops.ts';
import { loosens, stoppingOf } from './loosens.ts';
import { targetOf } from './target.ts';

/** Timeout of a call to the kernel: longer than it needs to seal a stop, and no longer than a person waits. */
const deliveryMs = 5_000;
const inTime = () => startDeadline({ ms: deliveryMs }).signal;
/** The most commands of one scope in one pass. The next pass delivers the rest. */
const commandsAtOnce = 100;

type Delivering = Pick<Context, 'kernel' | 'database' | 'transaction' | 'now'>;

/**
 * Delivers the unconfirmed commands of a scope, in the order of their epochs. Deliveries may be simultaneous or
 * repeated, since the kernel accepts each epoch once and none below the current one. Throws the error of a kernel that
 * could not be called.
 */
export async function deliverCommands(context: Delivering, scope: FenceScope): Promise<void> {
  const waiting = await listUndelivered(context.database.reader, scope, commandsAtOnce);
  for (const command of waiting) await deliver(context, command);
}

async function deliver(context: Delivering, command: StoredCommand): Promise<void> {
  try {
    const { body } = await fencesOf(context).putFence({ ...fenceOf(command), signal: inTime() });
    const to = { state: 'effective', effectiveAt: new Date(body.effective_at) } as const;
    await context.transaction((tx) => endDelivery(tx, command, to));
  } catch (cause) {
    if (!isAppError(cause)) throw cause;
    if (cause.code === 'INVALID_REQUEST')
      return await giveUp(context, command, { state: 'refused', why: cause.message });
    if (cause.code === 'END_PASSED')
      return await giveUp(context, command, {
        state: 'outdated',
        why: 'its end had passed when the kernel was reached',
      });
    if (cause.code !== 'ILLEGAL_TRANSITION') throw cause;
    await rise(context, command);
  }
}

/**
 * Handles a kernel whose epoch is not below the command's. A command that is not the latest of its scope is outdated.
 * Otherwise another source set the epoch, or this database lost a command. Then the command gets an epoch above the
 * kernel's, unless the command would loosen the current fence.
 */
async function rise(context: Delivering, command: StoredCommand): Promise<void> {
  const { body: active } = await fencesOf(context).getFence({ params: { scope: command.scope }, signal: inTime() });
  const isLoosened = loosens(command, stoppingOf(active), new Date(await context.database.nowMs()));
  const became = await context.transaction(async (tx) => {
    const latestEpoch = await lockScope(tx, command);
    const current = await getCommand(tx, command.id);
    if (current.state !== 'unconfirmed') return 'known';
    // Another delivery raised the command's epoch and may have died since, so this one delivers the command again.
    if (current.epoch !== command.epoch) return current;
    if (latestEpoch !== current.epoch || isLoosened) return 'outdated';
    const epoch = active.epoch + 1;
    await raiseEpoch(tx, command, epoch);
    return { ...command, epoch };
  });
  if (became === 'known') return;
  if (became === 'outdated')
    return await giveUp(context, command, { state: 'outdated', why: 'a later or stricter fence is in force' });
  await deliver(context, became);
}

async function giveUp(
  { transaction, now }: Delivering,
  command: StoredCommand,
  { state, why }: { state: 'refused' | 'outdated'; why: string },
): Promise<void> {
  const { id: command_id, workspaceId: scope, givenBy: actor, epoch } = command;
  await transaction(async (tx) => {
    if (!(await endDelivery(tx, command, { state, effectiveAt: null }))) return;
    const act = { scope, action: 'ops.undelivered', actor, verdict: 'fail', reason: state } as const;
    const details = { command_id, epoch, why };
    await recordAudit(tx, { ...act, subject: targetOf(command.scope, scope), details }, now());
  });
}

function fencesOf({ kernel }: Delivering) {
  return kernel.own({ putFence, getFence });
}

function fenceOf({ scope, kind, epoch, reason, callLimit, windowSeconds, expiresAt, givenBy }: StoredCommand) {
  return {
    params: { scope },
    body: {
      kind,
      epoch,
      reason,
      call_limit: callLimit,
      window_seconds: windowSeconds,
      expires_at: instantOrNull(expiresAt),
      set_by: PrincipalId.parse(givenBy),
    },
  };
}
