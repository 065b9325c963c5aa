import type { TenantId } from '@countersign/contracts';
import { ShadowLane } from '@countersign/contracts/governance-kernel';
import type { LaneRow } from './shadow-lanes.ts';

export function laneView(tenant: TenantId, { lane, hash, setBy, sinceMs }: LaneRow): ShadowLane {
  const since = new Date(sinceMs).toISOString();
  return ShadowLane.parse({ tenant_id: tenant, lane, policy_hash: hash, set_by: setBy, since });
}
