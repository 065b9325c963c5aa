import { anonymousActor } from '@countersign/contracts/control-plane';
import type { Context } from '../context.ts';
import { recordAudit } from '../store/audit.ts';
import { listRefusedLogins, removeRefusedLogin } from '../store/logins.ts';

const loginsPerPass = 100;

/**
 * Informs people of refused proofs for their address: one audit entry per login, after its end. Any visitor may begin a
 * login and guess, and the gateway sends at most five codes to an address in an hour. This limits how much a stranger
 * can write into a person's log.
 */
export async function tellRefusals({
  database,
  transaction,
  now,
}: Pick<Context, 'database' | 'now' | 'transaction'>): Promise<void> {
  const at = now();
  for (const login of await listRefusedLogins(database.reader, at, loginsPerPass))
    await transaction(async (tx) => {
      if (!(await removeRefusedLogin(tx, login))) return;
      const act = { action: 'login.refused', actor: anonymousActor, verdict: 'deny', reason: 'CODE_INVALID' } as const;
      const details = { method: 'code', refused: login.refused, began_at: login.createdAt.toISOString() };
      await recordAudit(tx, { ...act, scope: login.userId, details }, at);
    });
}
