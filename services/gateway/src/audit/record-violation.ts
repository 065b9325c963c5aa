import type { Context } from '../context.ts';
import { publishViolation } from '../events.ts';
import type { Tx } from '../store/database.ts';
import { insertViolation, type NewViolation } from '../store/violations.ts';

/** Records a denial in the list of violations, and notifies subscribers, in the transaction of the denial. */
export async function recordViolation(
  tx: Tx,
  context: Pick<Context, 'newEvent' | 'now' | 'databaseNow'>,
  violation: NewViolation,
): Promise<void> {
  const id = await insertViolation(tx, violation, context.now());
  const { workspaceId, runId, reasonCode } = violation;
  await publishViolation(tx, context, { id, workspaceId, runId, reasonCode });
}
