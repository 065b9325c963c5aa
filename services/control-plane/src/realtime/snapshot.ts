import { createHash } from 'node:crypto';
import { Digest, isAppError } from '@countersign/contracts';
import { unconfirmedMax, type Snapshot } from '@countersign/contracts/control-plane';
import { listAudit } from '@countersign/contracts/gateway';
import { getBoundaryStatus, listApprovals, listReceipts, type Fence } from '@countersign/contracts/governance-kernel';
import { withObstacles } from '../approvals/with-obstacles.ts';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { findAuditEnd } from '../store/audit.ts';
import { findPlace } from '../store/hints.ts';
import { countOpenIncidents } from '../store/incidents.ts';
import { listUnconfirmed } from '../store/stops.ts';

type Deps = Pick<Context, 'gateway' | 'kernel'>;

/** The current state of the workspace, from the services that store it. Throws GATEWAY_UNAVAILABLE. */
export async function snapshotOf(
  context: Pick<Context, 'database' | 'gateway' | 'kernel'>,
  caller: WorkspaceCaller,
): Promise<Snapshot> {
  const { workspaceId } = caller;
  const { reader } = context.database;
  // The place is read first, so that changes during the other reads come after it.
  const place = await findPlace(reader, workspaceId);
  const [boundary, gatewaySeq, unconfirmed, openIncidents, end] = await Promise.all([
    boundaryOf(context, caller),
    gatewayAuditSeq(context, caller),
    listUnconfirmed(reader, workspaceId, unconfirmedMax),
    countOpenIncidents(reader, workspaceId),
    findAuditEnd(reader, workspaceId),
  ]);
  return {
    v: 1,
    workspace_id: workspaceId,
    seq: place.own + place.all,
    kernel: boundary === null ? 'unreachable' : 'ok',
    boundary,
    counts: { unconfirmed_commands: unconfirmed.length, open_incidents: openIncidents },
    heads: { gateway_audit_seq: gatewaySeq, audit_seq: end.seq },
  };
}

/** `null` while the kernel is unavailable. Its state is unknown then and is not guessed. */
async function boundaryOf(context: Deps, caller: WorkspaceCaller): Promise<Snapshot['boundary']> {
  const client = context.kernel.as(caller.assertion, { getBoundaryStatus, listReceipts });
  try {
    const [boundary, newest] = await Promise.all([
      answerOf('kernel', () => client.getBoundaryStatus()),
      answerOf('kernel', () => client.listReceipts({ query: { limit: 1 } })),
    ]);
    const { status, policy, last_proven_fail_closed, counts, fences } = boundary;
    const { state, owner, policy_hash, policy_epoch } = policy;
    const { pending_approvals, open_dispatches, unapproved_tools } = counts;
    const waiting_for_you = pending_approvals === 0 ? 0 : await countWaiting(context, caller);
    return {
      status,
      policy: { state, owner, policy_hash, policy_epoch },
      last_proven_fail_closed,
      counts: { pending_approvals, waiting_for_you, open_dispatches, fences: fences.length, unapproved_tools },
      fences_hash: hashOfFences(fences),
      last_receipt_id: newest.data[0]?.payload.receipt_id ?? null,
    };
  } catch (error) {
    if (isAppError(error) && error.code === 'GOVERNANCE_UNAVAILABLE') return null;
    throw error;
  }
}

/** The number of pending approvals on one page of the kernel. */
const pendingMax = 200;

/**
 * How many of the first `pendingMax` pending approvals this person may approve. Throws GOVERNANCE_UNAVAILABLE,
 * GATEWAY_UNAVAILABLE.
 */
async function countWaiting(context: Deps, caller: WorkspaceCaller): Promise<number> {
  const client = context.kernel.as(caller.assertion, { listApprovals });
  const query = { state: 'pending', omit: 'args', limit: pendingMax } as const;
  const { data } = await answerOf('kernel', () => client.listApprovals({ query }));
  return (await withObstacles(context, data, caller)).filter(({ may_decide }) => may_decide).length;
}

function hashOfFences(fences: readonly Fence[]): Digest {
  const active = fences.map(({ scope, epoch, kind }) => `${scope} ${epoch} ${kind}`).sort();
  return Digest.parse(`sha256:${createHash('sha256').update(JSON.stringify(active)).digest('hex')}`);
}

async function gatewayAuditSeq(
  { gateway }: Pick<Context, 'gateway'>,
  { delegation, workspaceId }: WorkspaceCaller,
): Promise<number> {
  const asPerson = gateway.as(delegation, { listAudit });
  const { data } = await answerOf('gateway', () => asPerson.listAudit({ query: { workspaceId, limit: 1 } }));
  return data[0]?.seq ?? 0;
}
