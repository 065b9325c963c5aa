import { PlanVersion, type BillingPlanId } from '@countersign/contracts/commercial-gateway';
import { canonicalize } from '@countersign/crypto';
import type { Reader, Tx } from './database.ts';

type PlanReference = { planId: BillingPlanId; version: number };

/** Stores plan versions that are new. Throws when a stored version has another definition: versions never change. */
export async function storePlanVersions(tx: Tx, plans: readonly PlanVersion[], now: Date): Promise<void> {
  for (const plan of plans) {
    const { plan_id: planId, version } = plan;
    const definition = canonicalize(plan);
    await tx.planVersion.createMany({ data: { planId, version, definition, createdAt: now }, skipDuplicates: true });
    const stored = await tx.planVersion.findUniqueOrThrow({ where: { planId_version: { planId, version } } });
    if (stored.definition !== definition)
      throw new Error(`Plan ${planId} version ${version} is stored with another definition. Add a version instead.`);
  }
}

export async function findPlanVersion(reader: Reader, { planId, version }: PlanReference): Promise<PlanVersion | null> {
  const row = await reader.planVersion.findUnique({ where: { planId_version: { planId, version } } });
  return row === null ? null : PlanVersion.parse(JSON.parse(row.definition));
}

export async function getPlanVersion(reader: Reader, reference: PlanReference): Promise<PlanVersion> {
  const plan = await findPlanVersion(reader, reference);
  if (plan === null) throw new Error(`Plan ${reference.planId} version ${reference.version} is not stored`);
  return plan;
}
