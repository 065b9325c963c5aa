import { AppError, type PrincipalId, type TenantId } from '@countersign/contracts';
import type { CredentialId } from '@countersign/contracts/governance-kernel';
import { put, wanted } from '../../ledger/control.ts';
import type { PasskeyDeps } from './passkey-deps.ts';
import { passkeySession, passkeyStatement } from './passkey-statement.ts';
import { passkeys, type PasskeyRow } from './passkeys.ts';
import { requireWaiting } from './waiting.ts';

type Deps = Pick<PasskeyDeps, 'ledger' | 'provider' | 'clock' | 'newUlid'>;
type Named = { tenant: TenantId; id: CredentialId; by: PrincipalId };

/**
 * Revokes a passkey. A revoked passkey stays unchanged. Votes still require passkeys if the tenant's votes did before.
 * Throws NOT_FOUND.
 */
export function revokePasskey(deps: Deps, named: Named & { principal: PrincipalId }): Promise<PasskeyRow> {
  return change(deps, { ...named, action: 'passkey.revoke' }, (row, nowMs) => {
    if (row?.principal !== named.principal) throw new AppError('NOT_FOUND', 'This person has no passkey with this ID');
    return row.revokedAtMs === null ? { ...row, revokedAtMs: nowMs } : row;
  });
}

/** Recovery: the operator activates a passkey when no person can confirm it. Throws NOT_FOUND, ILLEGAL_TRANSITION. */
export function acceptPasskey(deps: Deps, named: Named & { reason: string }): Promise<PasskeyRow> {
  const { by, reason } = named;
  return change(deps, { ...named, action: 'passkey.accept', evidence: { reason } }, (row, nowMs) => {
    const waiting = requireWaiting(row, { principal: null, nowMs });
    return { ...waiting, activatedAtMs: nowMs, vouchedBy: by };
  });
}

type Change = Named & Pick<Parameters<typeof passkeyStatement>[1], 'action' | 'evidence'>;

async function change(
  { ledger, provider, clock, newUlid }: Deps,
  { tenant, id, ...message }: Change,
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
      const { by, action, evidence = {} } = message;
      const statement = passkeyStatement(provider, { passkey, by, ulid, nowMs, action, evidence });
      batch.seal(statement, () => ({ changes: [put(passkeys, passkey)] }));
      return () => passkey;
    },
  });
}
