import type { PlanTerms, PlanVersion } from '@countersign/contracts/commercial-gateway';
import type { PublicKey } from '@countersign/service-kit';

/** The operator's configuration of entitlements. */
export type EntitlementTerms = Readonly<{
  /** The plan of organisations without a subscription, trial or licence. */
  basePlan: PlanTerms;
  /** The name of this installation in licences. `null` when the installation has no name. */
  installation: string | null;
  licenceKeys: readonly PublicKey[];
}>;

export function termsOfPlan({ plan_id, version, limits, capabilities }: PlanVersion): PlanTerms {
  return { plan_id, plan_version: version, limits, capabilities };
}
