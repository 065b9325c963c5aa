import { AppError } from '@countersign/contracts';
import { listLedgerEntries, shadowLanesMax, type LaneName } from '@countersign/contracts/governance-kernel';
import { PolicyError, type CompiledPolicy } from '@countersign/policy';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { compileAgain } from '../policy/compile-draft.ts';
import { requireRoom } from '../orgs/require-room.ts';
import { parseDraft } from '../policy/parse-draft.ts';
import { tenantOf } from '../siblings/tenant-of.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import { countLanes, listLanes, lockLanes, writeLane } from '../store/shadow-lanes.ts';
import { deliverLane } from './deliver-lane.ts';

type Deps = Pick<Context, 'log' | 'database' | 'kernel' | 'now' | 'transaction'>;

type Input = { lane: LaneName; text: string; requestId: string; signal: AbortSignal };

/**
 * Sets the bundle of a shadow lane. The lane is stored first, and delivered to the kernel now or as soon as possible.
 * Throws INVALID_REQUEST, ILLEGAL_TRANSITION when the workspace may have no further lane, and LIMIT_REACHED. Throws
 * GOVERNANCE_UNAVAILABLE before anything is stored.
 */
export async function setShadow(
  context: Deps,
  { lane, text, requestId, signal }: Input,
  { workspaceId, userId: setBy }: WorkspaceCaller,
): Promise<void> {
  const policy = await compiled(text, signal);
  const policyHash = policy.hash;
  const place = await endOfLog(context, { workspaceId });
  const now = context.now();
  await context.transaction(async (tx) => {
    await lockLanes(tx, workspaceId, { place, now });
    const lanes = await listLanes(tx, workspaceId);
    const before = lanes.find((each) => each.lane === lane);
    if (before?.policyHash === policyHash && before.state !== 'ending') return;
    if (before === undefined && lanes.length >= shadowLanesMax) throw tooMany(lanes.map((each) => each.lane));
    if (before === undefined) await requireLaneRoom(tx, workspaceId);
    const changed = { policyHash, bundle: JSON.stringify(policy.bundle), version: (before?.version ?? 0) + 1 };
    await writeLane(tx, { workspaceId, lane, ...changed, state: 'unconfirmed', setBy, setAt: now });
    const act = { action: 'policy.shadow_set', actor: setBy, verdict: 'allow', subject: policyHash } as const;
    await recordAudit(tx, { scope: workspaceId, ...act, details: { lane }, requestId }, now);
  });
  await deliverLane(context, { workspaceId, lane });
}

async function compiled(text: string, signal: AbortSignal): Promise<CompiledPolicy> {
  try {
    return await compileAgain(parseDraft(text), signal);
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    const { code, path, message } = error;
    throw new AppError('INVALID_REQUEST', message, { param: 'text', details: { code, path } });
  }
}

/** Receipts that are sealed from now on have this place or a later one. */
async function endOfLog(
  { kernel }: Pick<Context, 'kernel'>,
  { workspaceId }: Pick<WorkspaceCaller, 'workspaceId'>,
): Promise<number> {
  const client = kernel.own({ listLedgerEntries });
  const newest = { params: { tenant: tenantOf(workspaceId) }, query: { limit: 1 } };
  const { data } = await answerOf('kernel', () => client.listLedgerEntries(newest));
  return (data[0]?.receipt.log_index ?? -1) + 1;
}

/** The lanes of all workspaces of an organisation count together. */
async function requireLaneRoom(tx: Tx, workspaceId: WorkspaceCaller['workspaceId']): Promise<void> {
  await requireRoom(tx, workspaceId, {
    name: 'shadow_lanes',
    things: 'shadow lanes',
    count: (orgId) => countLanes(tx, orgId),
  });
}

function tooMany(lanes: readonly LaneName[]): AppError {
  return new AppError('ILLEGAL_TRANSITION', `A workspace has ${shadowLanesMax} shadow lanes at most`, {
    param: 'lane',
    details: { lanes },
  });
}
