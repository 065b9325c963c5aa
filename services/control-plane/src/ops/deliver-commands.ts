import { isAppError, PrincipalId, startDeadline } from '@countersign/contracts';
import { getFence, putFence, type FenceScope } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { recordAudit } from '../store/audit.ts';
import { endDelivery, getCommand, listUndelivered, lockScope, raiseEpoch, type StoredCommand } from '../store/stops.ts';
import { instant } from '../store/instant.ts';
import { loosens, stoppingOf } from './loosens.ts';
import { targetOf } from './target.ts';

/** Longer than a kernel needs to seal a stop, and as long as a person waits after commanding one. */
const deliveryMs = 5_000;
const inTime = () => startDeadline({ ms: deliveryMs }).signal;
/** The rest of a scope is delivered by the next pass. */
const commandsAtOnce = 100;

type Delivering = Pick<Context, 'kernel' | 'database' | 'transaction' | 'now'>;

/**
 * Delivers what the kernel has not confirmed of a scope, in the order of its epochs. Two may do so at once, and one may do it twice: the
 * kernel takes an epoch once and none below it. Throws what the kernel threw when it could not be asked.
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
 * The kernel holds an epoch that is not below this one. A later command of ours, then: this one is outdated. Or one of another source, or
 * of a time that our database has forgotten: then this one goes above it, unless that would loosen what stands.
 */
async function rise(context: Delivering, command: StoredCommand): Promise<void> {
  const { body: standing } = await fencesOf(context).getFence({ params: { scope: command.scope }, signal: inTime() });
  const isLoosened = loosens(command, stoppingOf(standing), new Date(await context.database.nowMs()));
  const became = await context.transaction(async (tx) => {
    const latestEpoch = await lockScope(tx, command);
    const current = await getCommand(tx, command.id);
    if (current.state !== 'unconfirmed') return 'known';
    // Another delivery raised it and may have died since: this caller waits for the kernel's answer.
    if (current.epoch !== command.epoch) return current;
    if (latestEpoch !== current.epoch || isLoosened) return 'outdated';
    const epoch = standing.epoch + 1;
    await raiseEpoch(tx, command, epoch);
    return { ...command, epoch };
  });
  if (became === 'known') return;
  if (became === 'outdated')
    return await giveUp(context, command, { state: 'outdated', why: 'what stands is later or stops more' });
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
      expires_at: expiresAt === null ? null : instant(expiresAt),
      set_by: PrincipalId.parse(givenBy),
    },
  };
}
