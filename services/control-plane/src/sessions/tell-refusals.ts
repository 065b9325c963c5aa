import { anonymousActor } from '@countersign/contracts/control-plane';
import type { Context } from '../context.ts';
import { recordAudit } from '../store/audit.ts';
import { listRefusedLogins, removeRefusedLogin } from '../store/logins.ts';

const loginsPerPass = 100;

/**
 * Tells people that proofs for their address were refused: one entry for each login, once it is over. Any visitor may
 * begin one and guess, and the gateway sends five codes to an address in an hour. A stranger can therefore write no
 * more than that into a person's log.
 */
export async function tellRefusals({ database, transaction, now }: Context): Promise<void> {
  const at = now();
  for (const login of await listRefusedLogins(database.reader, at, loginsPerPass))
    await transaction(async (tx) => {
      if (!(await removeRefusedLogin(tx, login))) return;
      const act = { action: 'login.refused', actor: anonymousActor, verdict: 'deny', reason: 'CODE_INVALID' } as const;
      const details = { method: 'code', refused: login.refused, began_at: login.createdAt.toISOString() };
      await recordAudit(tx, { ...act, scope: login.userId, details }, at);
    });
}
