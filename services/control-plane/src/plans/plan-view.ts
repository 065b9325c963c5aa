import { instantOrNull, instantOf, PrincipalId } from '@countersign/contracts';
import type { Plan } from '@countersign/contracts/control-plane';
import type { Context } from '../context.ts';
import { commandView } from '../ops/command-view.ts';
import { deliverCommands } from '../ops/deliver-commands.ts';
import type { Reader } from '../store/database.ts';
import { findPlan, type StoredPlan } from '../store/plans.ts';
import { listCommandsOf } from '../store/stops.ts';

type Deps = Pick<Context, 'log' | 'database' | 'kernel' | 'now' | 'transaction'>;

/** The current state of a plan, with its commands. */
export async function planView(reader: Reader, { id, workspaceId }: StoredPlan): Promise<Plan> {
  const plan = await findPlan(reader, workspaceId, id);
  if (plan === null) throw new Error('The plan is missing after it was read');
  const commands = await listCommandsOf(reader, plan);
  const { incidentId, state, steps, planHash, dryRun, approvalId, decided, committedBy, committedAt } = plan;
  return {
    plan_id: id,
    workspace_id: workspaceId,
    incident_id: incidentId,
    ...{ state, steps },
    plan_hash: planHash,
    dry_run: dryRun,
    approval_id: approvalId,
    decision_id: decided?.decisionId ?? null,
    receipt_id: decided?.receiptId ?? null,
    asked_by: PrincipalId.parse(plan.askedBy),
    created_at: instantOf(plan.createdAt),
    expires_at: instantOf(plan.expiresAt),
    committed_by: committedBy === null ? null : PrincipalId.parse(committedBy),
    committed_at: instantOrNull(committedAt),
    commands: commands.filter(({ state }) => state !== 'refused').map(commandView),
  };
}

/** Delivers the commands of a plan at once. The courier delivers the rest later. */
export async function deliverPlan(context: Deps, plan: StoredPlan): Promise<void> {
  for (const { scope, id, state } of await listCommandsOf(context.database.reader, plan)) {
    if (state !== 'unconfirmed') continue;
    await deliverCommands(context, scope).catch((error: unknown) =>
      context.log.warn('stop.undelivered', { command_id: id, error }),
    );
  }
}
