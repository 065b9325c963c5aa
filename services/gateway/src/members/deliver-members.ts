import { startDeadline } from '@countersign/contracts';
import type { Context } from '../context.ts';
import type { Kernel } from '../governance/kernel.ts';
import { findMemberList, memberListAbove } from '../store/members.ts';

type Delivering = Pick<Context, 'kernel' | 'transaction' | 'deliveredMembers' | 'log'>;

/** The most remembered workspaces: more than vote at one gateway. The list of a forgotten one is delivered again. */
const deliveredMax = 10_000;
/** Short, since a person waits. A kernel that still has an older list refuses the vote anyway. */
const deliveryMs = 1_500;

/**
 * Delivers the current list of members to the kernel, unless the kernel has confirmed this version or a later one. The
 * list also travels as a message. With this delivery, a vote depends on no broker, and a removal takes effect at once.
 * A failed delivery is only logged.
 */
export async function deliverMembers(
  { kernel, transaction, deliveredMembers, log }: Delivering,
  { workspaceId, membersVersion }: { workspaceId: string; membersVersion: number },
): Promise<void> {
  if (kernel === null || (deliveredMembers.get(workspaceId) ?? 0) >= membersVersion) return;
  const deadline = startDeadline({ ms: deliveryMs });
  try {
    const version = await putList(kernel, transaction, { workspaceId, signal: deadline.signal });
    deliveredMembers.delete(workspaceId);
    deliveredMembers.set(workspaceId, version);
    const [oldest] = deliveredMembers.keys();
    if (deliveredMembers.size > deliveredMax && oldest !== undefined) deliveredMembers.delete(oldest);
  } catch (error) {
    log.warn('members.not_delivered', { error, workspaceId });
  } finally {
    deadline.clear();
  }
}

/**
 * The gateway is authoritative for memberships. If the kernel has a later list, the database of this gateway was
 * restored without the kernel's. The list is then sent under the next version.
 */
async function putList(
  kernel: Pick<Kernel, 'putMembers'>,
  transaction: Delivering['transaction'],
  { workspaceId, signal }: { workspaceId: string; signal: AbortSignal },
): Promise<number> {
  const list = await transaction((tx) => findMemberList(tx, workspaceId));
  const current = await kernel.putMembers(list, signal);
  if (current === list.version) return current;
  const later = await transaction((tx) => memberListAbove(tx, { workspaceId, version: current }));
  return await kernel.putMembers(later, signal);
}

/**
 * Forgets confirmations of an unavailable kernel, which may have lost them in a failover to a lagging standby. The
 * next vote delivers the list once more.
 */
export function forgetDelivered(
  { deliveredMembers }: Pick<Context, 'deliveredMembers'>,
  { workspaceId }: { workspaceId: string },
): void {
  deliveredMembers.delete(workspaceId);
}

/** Delivers the current list after a change, under its current version. */
export function deliverChange(context: Delivering, workspaceId: string): Promise<void> {
  return deliverMembers(context, { workspaceId, membersVersion: Number.POSITIVE_INFINITY });
}
