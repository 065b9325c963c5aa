import { AppError, type PrincipalId, type TenantId } from '@countersign/contracts';
import type { CredentialId } from '@countersign/contracts/governance-kernel';
import { put, wanted } from '../ledger/control.ts';
import type { PasskeyParts } from './passkey-parts.ts';
import { passkeySession, passkeyStatement } from './passkey-statement.ts';
import { passkeys, type PasskeyRow } from './passkeys.ts';
import { requireWaiting } from './waiting.ts';

type Parts = Pick<PasskeyParts, 'ledger' | 'provider' | 'clock' | 'newUlid'>;
type Named = { tenant: TenantId; id: CredentialId; by: PrincipalId };

/**
 * Ends a passkey; one that was revoked before stays as it is. The tenant's requirement for votes stays too. Throws
 * NOT_FOUND.
 */
export function revokePasskey(parts: Parts, named: Named & { principal: PrincipalId }): Promise<PasskeyRow> {
  return change(parts, { ...named, action: 'passkey.revoke' }, (row, nowMs) => {
    if (row?.principal !== named.principal) throw new AppError('NOT_FOUND', 'There is no such passkey');
    return row.revokedAtMs === null ? { ...row, revokedAtMs: nowMs } : row;
  });
}

/**
 * Recovery: the system makes a passkey active when no person is left to vouch. Throws NOT_FOUND, ILLEGAL_TRANSITION.
 */
export function acceptPasskey(parts: Parts, named: Named & { reason: string }): Promise<PasskeyRow> {
  const { by, reason } = named;
  return change(parts, { ...named, action: 'passkey.accept', evidence: { reason } }, (row, nowMs) => {
    const waiting = requireWaiting(row, { principal: null, nowMs });
    return { ...waiting, activatedAtMs: nowMs, vouchedBy: by };
  });
}

type Change = Named & Pick<Parameters<typeof passkeyStatement>[1], 'action' | 'evidence'>;

async function change(
  { ledger, provider, clock, newUlid }: Parts,
  { tenant, id, ...said }: Change,
  changed: (row: PasskeyRow | null, nowMs: number) => PasskeyRow,
): Promise<PasskeyRow> {
  const nowMs = clock().getTime();
  const ulid = newUlid(nowMs);
  return await ledger.submit({
    chain: { tenant, session: passkeySession },
    wants: [wanted(passkeys, { tenant, id })],
    conclude: (batch) => {
      const row = batch.row(passkeys, { tenant, id });
      const passkey = changed(row, nowMs);
      if (passkey === row) return () => passkey;
      const { by, action, evidence = {} } = said;
      const statement = passkeyStatement(provider, { passkey, by, ulid, nowMs, action, evidence });
      batch.seal(statement, () => ({ changes: [put(passkeys, passkey)] }));
      return () => passkey;
    },
  });
}
