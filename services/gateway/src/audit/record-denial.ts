import type { JsonValue } from '@countersign/crypto';
import type { Context } from '../context.ts';
import { recordAudit } from '../store/audit.ts';

type Denial = {
  workspaceId: string;
  action: string;
  actor: string;
  subject?: string;
  details?: { [member: string]: JsonValue };
  requestId: string;
};

/** Records a refused request in a transaction of its own, since the request changes nothing. */
export async function recordDenial(context: Pick<Context, 'now' | 'transaction'>, denial: Denial): Promise<void> {
  const entry = { ...denial, verdict: 'deny', reason: 'PERMISSION_DENIED' } as const;
  await context.transaction((tx) => recordAudit(tx, entry, context.now()));
}
