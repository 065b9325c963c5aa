import { instantOf, type WorkspaceId } from '@countersign/contracts';
import type { PolicyShadow } from '@countersign/contracts/control-plane';
import type { Context } from '../context.ts';
import { listHours } from '../store/shadow-hours.ts';
import { listLanes, type StoredLane } from '../store/shadow-lanes.ts';

const shownMs = 24 * 3_600_000;

type Reading = Pick<Context, 'database' | 'now'>;

export async function shadowsOf(context: Reading, workspaceId: WorkspaceId): Promise<PolicyShadow[]> {
  const lanes = await listLanes(context.database.reader, workspaceId);
  return await Promise.all(lanes.map((lane) => shadowView(context, lane)));
}

export async function shadowView({ database, now }: Reading, lane: StoredLane): Promise<PolicyShadow> {
  const hours = await listHours(database.reader, lane, new Date(now().getTime() - shownMs));
  return {
    lane: lane.lane,
    policy_hash: lane.policyHash,
    state: lane.state,
    set_by: lane.setBy,
    set_at: instantOf(lane.setAt),
    hours: hours.map(({ hour, decisions, diverged, widened, faults }) => ({
      hour: instantOf(hour),
      ...{ decisions, diverged, widened, faults },
    })),
  };
}
