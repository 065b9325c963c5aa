import { AppError, type PlainJson } from '@countersign/contracts';
import type { NewEvent } from '@countersign/messaging';
import type { Caller } from '../call/governed-call.ts';
import { identityRevokedEvent } from '../events.ts';
import { put, wanted } from '../ledger/control.ts';
import { settingStatement, type SettingParts } from '../policy/setting-statement.ts';
import { identities, newIdentity, type IdentityKey, type IdentityRow } from './identities.ts';
import { ownSession } from '../ledger/own-sessions.ts';

type Parts = SettingParts & { newEvent: NewEvent };
type By = Pick<Caller, 'principal'>;

/** The chain that tells of a tenant's agents and operators. */
export const identitySession = ownSession('identities');

/** Enrols a principal, or changes their display name. Throws ILLEGAL_TRANSITION for a revoked principal. */
export async function putIdentity(
  parts: Parts,
  key: IdentityKey,
  { by, displayName }: { by: By; displayName: string },
): Promise<IdentityRow> {
  const nowMs = parts.clock().getTime();
  const enrolled = newIdentity(key, { ulid: parts.newUlid(nowMs), by: by.principal, nowMs, displayName });
  return await parts.ledger.submit({
    chain: { tenant: key.tenant, session: identitySession },
    wants: [wanted(identities, key)],
    conclude: (batch) => {
      const standing = batch.row(identities, key);
      if (standing !== null) requireActive(standing);
      if (standing?.displayName === displayName) return () => standing;
      const row = standing === null ? enrolled : { ...standing, displayName };
      const action = standing === null ? 'identity.enrol' : 'identity.rename';
      batch.seal(changeStatement(parts, row, { by, nowMs, action, setting: { display_name: displayName } }), () => ({
        changes: [put(identities, row)],
      }));
      return () => row;
    },
  });
}

/** Ends an identity for good, with all that is proven by its keys. One that was revoked before stays as it is. Throws NOT_FOUND. */
export async function revokeIdentity(parts: Parts, key: IdentityKey, by: By): Promise<IdentityRow> {
  const nowMs = parts.clock().getTime();
  return await parts.ledger.submit({
    chain: { tenant: key.tenant, session: identitySession },
    wants: [wanted(identities, key)],
    conclude: (batch) => {
      const standing = batch.row(identities, key);
      if (standing === null) throw noIdentity();
      if (standing.revokedAtMs !== null) return () => standing;
      const row = { ...standing, revokedAtMs: nowMs, revokedBy: by.principal };
      batch.seal(changeStatement(parts, row, { by, nowMs, action: 'identity.revoke', setting: {} }), () => ({
        changes: [put(identities, row)],
        events: [identityRevokedEvent(parts, { ...key, revokedAtMs: nowMs, revokedBy: by.principal })],
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

/** That an identity or one of its keys changed. */
export function changeStatement(
  parts: SettingParts,
  { tenant, kind, principal }: IdentityKey,
  { by, nowMs, action, setting }: Change,
) {
  return settingStatement(parts, {
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

/** Throws ILLEGAL_TRANSITION. */
export function requireActive({ revokedAtMs }: Pick<IdentityRow, 'revokedAtMs'>): void {
  if (revokedAtMs === null) return;
  throw new AppError('ILLEGAL_TRANSITION', 'This identity was revoked, and stays revoked', {
    details: { state: 'revoked', allowed: [] },
  });
}

export function noIdentity(): AppError {
  return new AppError('NOT_FOUND', 'There is no such identity');
}
