import { sha256Of, type Digest, type IncidentId } from '@countersign/contracts';
import type { PlanStep } from '@countersign/contracts/control-plane';
import { canonicalBytes, parsePlainJson } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { workOutRadius } from '../blast-radius/work-out-radius.ts';
import type { Context } from '../context.ts';
import type { KeyedCaller } from '../guards.ts';
import { newPlanId } from '../ids.ts';
import { requireOngoing } from '../ops/require-ongoing.ts';
import { recordAudit } from '../store/audit.ts';
import type { TransactionFor } from '../store/database.ts';
import { recordEntry } from '../store/incident-entries.ts';
import { insertPlan, type StoredPlan } from '../store/plans.ts';
import { requireTighter } from './require-tighter.ts';

type Input = { steps: PlanStep[]; incident_id?: IncidentId | undefined; ttl_seconds: number };
type By = { caller: KeyedCaller; requestId: string; transaction: TransactionFor<StoredPlan> };

/** Drafts a plan after a dry run. Throws what workOutRadius, requireTighter and requireOngoing throw. */
export async function draftPlan(
  context: Pick<Context, 'kernel' | 'keyRing' | 'radiusTurns' | 'now'>,
  input: Input,
  { caller, requestId, transaction }: By,
): Promise<StoredPlan> {
  const { steps, incident_id: incidentId = null, ttl_seconds } = input;
  const { workspaceId, actor: askedBy } = caller;
  await requireTighter(context, steps, workspaceId);
  const dryRun = await workOutRadius(context, steps, caller);
  const createdAt = context.now();
  const expiresAt = new Date(createdAt.getTime() + ttl_seconds * 1_000);
  const plan = { id: newPlanId(), workspaceId, incidentId, steps, dryRun, expiresAt };
  const planHash = hashOf(plan);
  return await transaction(async (tx) => {
    if (incidentId !== null) await requireOngoing(tx, workspaceId, incidentId);
    const stored = await insertPlan(tx, { ...plan, planHash, askedBy, createdAt });
    if (incidentId !== null) {
      const entry = { kind: 'planned', planId: plan.id, by: askedBy, at: createdAt, note: '' } as const;
      await recordEntry(tx, incidentId, entry);
    }
    const details = { plan_hash: planHash, incident_id: incidentId, tree_size: dryRun.tree_size };
    const act = { action: 'plan.drafted', actor: askedBy, verdict: 'allow', subject: plan.id, requestId } as const;
    await recordAudit(tx, { scope: workspaceId, ...act, details }, createdAt);
    return stored;
  });
}

type Hashed = Pick<StoredPlan, 'id' | 'workspaceId' | 'incidentId' | 'steps' | 'dryRun' | 'expiresAt'>;

/** The hash of everything that the approver sees. */
function hashOf({ id, workspaceId, incidentId, steps, dryRun, expiresAt }: Hashed): Digest {
  const text = {
    type: 'countersign.plan.v1',
    ...{ plan_id: id, workspace_id: workspaceId, incident_id: incidentId, steps },
    ...{ radius_hash: dryRun.radius_hash, expires_at: expiresAt.toISOString() },
  };
  return sha256Of(nodeProvider, canonicalBytes(parsePlainJson(text)));
}
