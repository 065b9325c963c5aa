import {
  agentDoors,
  AppError,
  type Door,
  toolOfFunctionName,
  type AccessKeyId,
  type Instant,
} from '@countersign/contracts';
import type { NewAccessKey } from '@countersign/contracts/governance-kernel';
import { announcementStatement, argsHash } from '@countersign/receipts';
import type { Caller } from '../call/governed-call.ts';
import type { Hasher } from '../call/normalise.ts';
import { requireActive } from '../identities/change-identities.ts';
import { identities, newIdentity } from '../identities/identities.ts';
import { put, wanted } from '../ledger/control.ts';
import type { GroupCommit } from '../ledger/group-commit.ts';
import { isToolName } from '../registry/is-tool-name.ts';
import { accessKeys, identityKindOf, type AccessKeyRow } from './access-keys.ts';
import { newSecret, secretHash, shownPrefix } from './secret.ts';
import { ownSession } from '../ledger/own-sessions.ts';

type Parts = { ledger: GroupCommit; hasher: Hasher; clock: () => Date; newUlid: (nowMs: number) => string };

const dayMs = 86_400_000;
/** The chain that tells of a tenant's keys. */
const session = ownSession('access-keys');

/**
 * Makes a key, sealed with its terms, and enrols its holder if they were not. The secret is returned once and not kept.
 */
export async function createKey(parts: Parts, caller: Caller, terms: NewAccessKey) {
  const nowMs = parts.clock().getTime();
  const ulid = parts.newUlid(nowMs);
  const secret = newSecret(terms.kind);
  const key: AccessKeyRow = {
    id: `key_${ulid}` as AccessKeyId, // within its schema
    tenant: caller.tenant,
    principal: terms.principal_id,
    kind: terms.kind,
    doors: doorsOf(terms),
    tools: terms.tools === undefined ? null : toolsOf(terms.tools),
    prefix: shownPrefix(secret),
    secretHash: secretHash(parts.hasher.provider, secret),
    expiresAtMs: nowMs + terms.expires_in_days * dayMs,
    createdAtMs: nowMs,
    createdBy: caller.principal,
    revokedAtMs: null,
  };
  const owner = { tenant: key.tenant, kind: identityKindOf(key), principal: key.principal };
  await parts.ledger.submit({
    chain: { tenant: caller.tenant, session },
    wants: [wanted(identities, owner)],
    conclude: (batch) => {
      const enrolled = batch.row(identities, owner);
      if (enrolled !== null) requireActive(enrolled);
      const displayName = key.principal;
      const enrolment = { ulid, by: caller.principal, nowMs, displayName };
      batch.seal(changeOf(parts, { caller, key, ulid, nowMs, action: 'access_key.create' }), () => ({
        changes: [...(enrolled === null ? [put(identities, newIdentity(owner, enrolment))] : []), put(accessKeys, key)],
      }));
      return () => undefined;
    },
  });
  return { key, secret };
}

function doorsOf({ kind, doors = [...agentDoors] }: NewAccessKey): Door[] {
  return kind === 'agent' ? [...new Set(doors)] : [];
}

/** The tools by their own names, in every spelling of the caller. A name without visible characters is refused. */
function toolsOf(names: readonly string[]): string[] {
  const unnamed = names.findIndex((name) => !isToolName(name));
  if (unnamed >= 0) throw new AppError('INVALID_REQUEST', 'This is the name of no tool', { param: `tools.${unnamed}` });
  return [...new Set(names.map(toolOfFunctionName))].sort();
}

/** Ends a key. A key that was revoked before stays as it is. Throws NOT_FOUND. */
export function revokeKey(parts: Parts, caller: Caller, id: AccessKeyId): Promise<AccessKeyRow> {
  const nowMs = parts.clock().getTime();
  const ulid = parts.newUlid(nowMs);
  return parts.ledger.submit({
    chain: { tenant: caller.tenant, session },
    wants: [wanted(accessKeys, id)],
    conclude: (batch) => {
      const key = batch.row(accessKeys, id);
      if (key?.tenant !== caller.tenant) throw new AppError('NOT_FOUND', 'There is no such key');
      if (key.revokedAtMs !== null) return () => key;
      const revoked = { ...key, revokedAtMs: nowMs };
      batch.seal(changeOf(parts, { caller, key: revoked, ulid, nowMs, action: 'access_key.revoke' }), () => ({
        changes: [put(accessKeys, revoked)],
      }));
      return () => revoked;
    },
  });
}

type KeyChange = { caller: Caller; key: AccessKeyRow; ulid: string; nowMs: number; action: string };

function changeOf({ hasher }: Parts, { caller, key, ulid, nowMs, action }: KeyChange) {
  const { provider, saltOf } = hasher;
  const facts = {
    key_id: key.id,
    kind: key.kind,
    principal_id: key.principal,
    doors: [...key.doors],
    tools: key.tools === null ? null : [...key.tools],
    expires_at: instant(key.expiresAtMs),
  };
  return announcementStatement(provider, {
    ulid,
    at: instant(nowMs),
    tenant: caller.tenant,
    principal: caller.principal,
    session,
    kind: 'trust',
    action,
    tool: null,
    resource: `access_key:${key.id}`,
    effectLevel: 'E3',
    verdict: 'ALLOW',
    reasonCode: 'ALLOWED',
    argsHash: argsHash(provider, saltOf(caller.tenant), facts),
    policyHash: null,
    policyEpoch: 0,
    approvalId: null,
    facts,
  });
}

function instant(ms: number): Instant {
  return new Date(ms).toISOString() as Instant; // toISOString writes exactly this form
}
