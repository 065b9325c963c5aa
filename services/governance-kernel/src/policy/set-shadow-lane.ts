import { AppError, type Digest, type PrincipalId, type TenantId } from '@countersign/contracts';
import { shadowLanesMax, type LaneName, type PolicyBundle } from '@countersign/contracts/governance-kernel';
import { put, wanted } from '../ledger/control.ts';
import { compileBundle, textOf } from './compile.ts';
import { settingStatement, type SettingParts } from './setting-statement.ts';
import { shadowLanes, type LaneRow, type LanesRow } from './shadow-lanes.ts';
import { ownSession } from '../ledger/own-sessions.ts';

type Addressed = { tenant: TenantId; lane: LaneName; by: PrincipalId };

/** Sets the draft of a lane and seals that, or confirms that it stands. Throws INVALID_REQUEST, ILLEGAL_TRANSITION for a lane too many. */
export async function setShadowLane(
  parts: SettingParts,
  { tenant, lane, by, bundle }: Addressed & { bundle: PolicyBundle },
): Promise<LaneRow> {
  const hash = (await compileBundle(parts.provider, bundle)).hash as Digest; // the compiler hashes with digestOf
  const draft = textOf(bundle);
  return await changeLanes(parts, { tenant, lane, by }, (lanes, nowMs) => {
    const standing = lanes.find((row) => row.lane === lane);
    if (standing?.hash === hash) return { told: standing, change: null };
    const others = lanes.filter((row) => row.lane !== lane);
    if (others.length >= shadowLanesMax)
      throw new AppError('ILLEGAL_TRANSITION', `A tenant has ${shadowLanesMax} shadow lanes at most`, {
        param: 'lane',
        details: { lanes: others.map((row) => row.lane) },
      });
    const told = { lane, hash, setBy: by, sinceMs: nowMs };
    return { told, change: { lanes: [...others, told].sort(byName), draft, hash } };
  });
}

/** Throws NOT_FOUND. */
export async function endShadowLane(parts: SettingParts, addressed: Addressed): Promise<LaneRow> {
  return await changeLanes(parts, addressed, (lanes) => {
    const told = lanes.find((row) => row.lane === addressed.lane);
    if (told === undefined) throw new AppError('NOT_FOUND', 'There is no such shadow lane');
    return { told, change: { lanes: lanes.filter((row) => row !== told), draft: null, hash: null } };
  });
}

type Change = { lanes: readonly LaneRow[]; draft: string | null; hash: Digest | null };
type Move = (lanes: readonly LaneRow[], nowMs: number) => { told: LaneRow; change: Change | null };

async function changeLanes(parts: SettingParts, { tenant, lane, by }: Addressed, move: Move): Promise<LaneRow> {
  const nowMs = parts.clock().getTime();
  const chain = { tenant, session: ownSession('policy') };
  return await parts.ledger.submit({
    chain,
    wants: [wanted(shadowLanes, tenant)],
    conclude: (batch) => {
      const standing = batch.row(shadowLanes, tenant);
      const { told, change } = move(standing?.lanes ?? [], nowMs);
      if (change === null) return () => told;
      const setting = { lane, draft_hash: change.hash };
      const said = { ...chain, by, nowMs, action: 'policy.shadow', resource: `shadow_lane:${tenant}/${lane}` } as const;
      const drafts = { ...standing?.drafts, [lane]: change.draft };
      const row: LanesRow = { tenant, lanes: change.lanes, drafts };
      batch.seal(settingStatement(parts, { ...said, setting }), () => ({ changes: [put(shadowLanes, row)] }));
      return () => told;
    },
  });
}

const byName = (one: LaneRow, other: LaneRow) => (one.lane < other.lane ? -1 : 1);
