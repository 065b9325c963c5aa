import { AppError, type Digest, type PrincipalId, type TenantId } from '@countersign/contracts';
import { shadowLanesMax, type LaneName, type PolicyBundle } from '@countersign/contracts/governance-kernel';
import { put, wanted } from '../../ledger/control.ts';
import { compileBundle, textOf } from './compile.ts';
import { settingStatement, type SettingDeps } from './setting-statement.ts';
import { shadowLanes, type LaneRow, type LanesRow } from './shadow-lanes.ts';
import { ownSession } from '../../ledger/own-sessions.ts';

type Addressed = { tenant: TenantId; lane: LaneName; by: PrincipalId };

/**
 * Sets the draft of a lane and seals it, or confirms an equal draft. Throws INVALID_REQUEST for a draft that does not
 * compile or fails its own tests. Throws ILLEGAL_TRANSITION when the tenant already has the maximum number of lanes.
 */
export async function setShadowLane(
  deps: SettingDeps,
  { tenant, lane, by, bundle }: Addressed & { bundle: PolicyBundle },
): Promise<LaneRow> {
  const hash = (await compileBundle(deps.provider, bundle)).hash;
  const draft = textOf(bundle);
  return await changeLanes(deps, { tenant, lane, by }, (lanes, nowMs) => {
    const current = lanes.find((row) => row.lane === lane);
    if (current?.hash === hash) return { report: current, change: null };
    const others = lanes.filter((row) => row.lane !== lane);
    if (others.length >= shadowLanesMax)
      throw new AppError('ILLEGAL_TRANSITION', `A tenant has ${shadowLanesMax} shadow lanes at most`, {
        param: 'lane',
        details: { lanes: others.map((row) => row.lane) },
      });
    const report = { lane, hash, setBy: by, sinceMs: nowMs };
    return { report, change: { lanes: [...others, report].sort(byName), draft, hash } };
  });
}

/** Removes a lane with its draft. Throws NOT_FOUND. */
export async function endShadowLane(deps: SettingDeps, addressed: Addressed): Promise<LaneRow> {
  return await changeLanes(deps, addressed, (lanes) => {
    const report = lanes.find((row) => row.lane === addressed.lane);
    if (report === undefined) throw new AppError('NOT_FOUND', 'The tenant has no shadow lane of this name');
    return { report, change: { lanes: lanes.filter((row) => row !== report), draft: null, hash: null } };
  });
}

type Change = { lanes: readonly LaneRow[]; draft: string | null; hash: Digest | null };
type Move = (lanes: readonly LaneRow[], nowMs: number) => { report: LaneRow; change: Change | null };

async function changeLanes(deps: SettingDeps, { tenant, lane, by }: Addressed, move: Move): Promise<LaneRow> {
  const nowMs = deps.clock().getTime();
  const chain = { tenant, session: ownSession('policy') };
  return await deps.ledger.submit({
    chain,
    wants: [wanted(shadowLanes, tenant)],
    conclude: (batch) => {
      const current = batch.row(shadowLanes, tenant);
      const { report, change } = move(current?.lanes ?? [], nowMs);
      if (change === null) return () => report;
      const setting = { lane, draft_hash: change.hash };
      const statement = {
        ...chain,
        by,
        nowMs,
        action: 'policy.shadow',
        resource: `shadow_lane:${tenant}/${lane}`,
      } as const;
      const drafts = { ...current?.drafts, [lane]: change.draft };
      const row: LanesRow = { tenant, lanes: change.lanes, drafts };
      batch.seal(settingStatement(deps, { ...statement, setting }), () => ({ changes: [put(shadowLanes, row)] }));
      return () => report;
    },
  });
}

const byName = (a: LaneRow, b: LaneRow) => (a.lane < b.lane ? -1 : 1);
