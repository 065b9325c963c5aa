import { AppError, type PlainJson } from '@countersign/contracts';
import type { NewEvent } from '@countersign/messaging';
import type { Caller } from '../../call/governed-call.ts';
import { identityRevokedEvent } from '../../events.ts';
import { put, wanted } from '../../ledger/control.ts';
import { settingStatement, type SettingDeps } from '../policy/setting-statement.ts';
import { identities, newIdentity, type IdentityKey, type IdentityRow } from './identities.ts';
import { ownSession } from '../../ledger/own-sessions.ts';

type Deps = SettingDeps & { newEvent: NewEvent };
type By = Pick<Caller, 'principal'>;

/** The chain that records the agents and operators of a tenant. */
export const identitySession = ownSession('identities');

/** Enrols a principal, or changes their display name. Throws ILLEGAL_TRANSITION for a revoked principal. */
export async function putIdentity(
  deps: Deps,
  key: IdentityKey,
  { by, displayName }: { by: By; displayName: string },
): Promise<IdentityRow> {
  const nowMs = deps.clock().getTime();
  const enrolled = newIdentity(key, { ulid: deps.newUlid(nowMs), by: by.principal, nowMs, displayName });
  return await deps.ledger.submit({
    chain: { tenant: key.tenant, session: identitySession },
    wants: [wanted(identities, key)],
    conclude: (batch) => {
      const current = batch.row(identities, key);
      if (current !== null) requireActive(current);
      if (current?.displayName === displayName) return () => current;
      const row = current === null ? enrolled : { ...current, displayName };
      const action = current === null ? 'identity.enrol' : 'identity.rename';
      batch.seal(changeStatement(deps, row, { by, nowMs, action, setting: { display_name: displayName } }), () => ({
        changes: [put(identities, row)],
      }));
      return () => row;
    },
  });
}

/**
 * Revokes an identity and thereby all of its keys, permanently. A revoked identity stays unchanged. Throws NOT_FOUND.
 */
export async function revokeIdentity(deps: Deps, key: IdentityKey, by: By): Promise<IdentityRow> {
  const nowMs = deps.clock().getTime();
  return await deps.ledger.submit({
    chain: { tenant: key.tenant, session: identitySession },
    wants: [wanted(identities, key)],
    conclude: (batch) => {
      const current = batch.row(identities, key);
      if (current === null) throw noIdentity();
      if (current.revokedAtMs !== null) return () => current;
      const row = { ...current, revokedAtMs: nowMs, revokedBy: by.principal };
      batch.seal(changeStatement(deps, row, { by, nowMs, action: 'identity.revoke', setting: {} }), () => ({
        changes: [put(identities, row)],
        events: [identityRevokedEvent(deps, { ...key, revokedAtMs: nowMs, revokedBy: by.principal })],
      }));
      return () => row;
    },
  });
}

type Change = {
  by: By;
  nowMs: number;
  action: 'identity.enrol' | 'identity.rename' | 'identity.revoke' | 'identity.enrol_key' | 'identity.revoke_key';
  setting: Record<string, PlainJson>;
};

/** The statement that an identity or one of its keys has changed. */
export function changeStatement(
  deps: SettingDeps,
  { tenant, kind, principal }: IdentityKey,
  { by, nowMs, action, setting }: Change,
) {
  return settingStatement(deps, {
    tenant,
    session: identitySession,
    by: by.principal,
    nowMs,
    kind: 'trust',
    action,
    resource: `${kind}:${principal}`,
    setting: { kind, principal_id: principal, ...setting },
  });
}

/** Throws ILLEGAL_TRANSITION for a revoked identity. */
export function requireActive({ revokedAtMs }: Pick<IdentityRow, 'revokedAtMs'>): void {
  if (revokedAtMs === null) return;
  throw new AppError('ILLEGAL_TRANSITION', 'This identity was revoked for good. Register a new one', {
    details: { state: 'revoked', allowed: [] },
  });
}

export function noIdentity(): AppError {
  return new AppError('NOT_FOUND', 'The tenant has no identity with this principal_id');
}
