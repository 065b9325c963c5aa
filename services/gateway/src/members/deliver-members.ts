import { startDeadline } from '@countersign/contracts';
import type { Context } from '../context.ts';
import type { Kernel } from '../governance/kernel.ts';
import { findMemberList, memberListAbove } from '../store/members.ts';

type Delivering = Pick<Context, 'kernel' | 'transaction' | 'deliveredMembers' | 'log'>;

/** More workspaces than vote at one gateway; the oldest is delivered once more. */
const deliveredMax = 10_000;
/** The person waits, and the kernel refuses a vote under an older list anyway. */
const deliveryMs = 1_500;

/**
 * Gives the kernel the list of members from which a role was read, unless it has confirmed it. The list also travels as a message; this
 * way a vote depends on no broker, and a removal counts at once.
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
 * Who is a member is for the gateway to say. Where the kernel holds a later list, the database of this gateway was restored without the
 * kernel's, and the list goes again under the next version.
 */
async function putList(
  kernel: Pick<Kernel, 'putMembers'>,
  transaction: Delivering['transaction'],
  { workspaceId, signal }: { workspaceId: string; signal: AbortSignal },
): Promise<number> {
  const list = await transaction((tx) => findMemberList(tx, workspaceId));
  const standing = await kernel.putMembers(list, signal);
  if (standing === list.version) return standing;
  const later = await transaction((tx) => memberListAbove(tx, { workspaceId, version: standing }));
  return await kernel.putMembers(later, signal);
}

/**
 * A kernel that is unavailable may have lost what it confirmed, after a failover to a standby that lags: the next vote gives the list once more.
 */
export function forgetDelivered(
  { deliveredMembers }: Pick<Context, 'deliveredMembers'>,
  { workspaceId }: { workspaceId: string },
): void {
  deliveredMembers.delete(workspaceId);
}

/** The same after a change: of whatever version the list is now. */
export function deliverChange(context: Delivering, workspaceId: string): Promise<void> {
  return deliverMembers(context, { workspaceId, membersVersion: Number.POSITIVE_INFINITY });
}
