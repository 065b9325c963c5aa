import { instantOf, agentDoors, AppError, type Door, toolOfFunctionName, AccessKeyId } from '@countersign/contracts';
import type { NewAccessKey } from '@countersign/contracts/governance-kernel';
import { announcementStatement, argsHash } from '@countersign/receipts';
import type { Caller } from '../../call/governed-call.ts';
import type { Hasher } from '../../call/normalise.ts';
import { requireActive } from '../identities/change-identities.ts';
import { identities, newIdentity } from '../identities/identities.ts';
import { put, wanted } from '../../ledger/control.ts';
import type { GroupCommit } from '../../ledger/group-commit.ts';
import { isToolName } from '../../registry/is-tool-name.ts';
import { accessKeys, identityKindOf, type AccessKeyRow } from './access-keys.ts';
import { newSecret, secretHash, shownPrefix } from './secret.ts';
import { ownSession } from '../../ledger/own-sessions.ts';

export type KeyDeps = {
  ledger: Pick<GroupCommit, 'submit'>;
  hasher: Hasher;
  clock: () => Date;
  newUlid: (nowMs: number) => string;
};

const dayMs = 86_400_000;
/** The chain that records the keys of a tenant. */
const session = ownSession('access-keys');

/**
 * Creates a key, seals its terms, and enrols a holder that is not enrolled yet. The secret is returned once and not
 * stored.
 */
export async function createKey(deps: KeyDeps, caller: Caller, terms: NewAccessKey) {
  const nowMs = deps.clock().getTime();
  const ulid = deps.newUlid(nowMs);
  const secret = newSecret(terms.kind);
  const key: AccessKeyRow = {
    id: AccessKeyId.parse(`key_${ulid}`),
    tenant: caller.tenant,
    principal: terms.principal_id,
    kind: terms.kind,
    doors: doorsOf(terms),
    tools: terms.tools === undefined ? null : toolsOf(terms.tools),
    prefix: shownPrefix(secret),
    secretHash: secretHash(deps.hasher.provider, secret),
    expiresAtMs: nowMs + terms.expires_in_days * dayMs,
    createdAtMs: nowMs,
    createdBy: caller.principal,
    revokedAtMs: null,
  };
  const owner = { tenant: key.tenant, kind: identityKindOf(key), principal: key.principal };
  await deps.ledger.submit({
    chain: { tenant: caller.tenant, session },
    wants: [wanted(identities, owner)],
    conclude: (batch) => {
      const enrolled = batch.row(identities, owner);
      if (enrolled !== null) requireActive(enrolled);
      const displayName = key.principal;
      const enrolment = { ulid, by: caller.principal, nowMs, displayName };
      batch.seal(changeOf(deps, { caller, key, ulid, nowMs, action: 'access_key.create' }), () => ({
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

/**
 * The names of the tools in dotted form (`files.read`), sorted and without duplicates. Throws INVALID_REQUEST for an
 * invalid name.
 */
function toolsOf(names: readonly string[]): string[] {
  const unnamed = names.findIndex((name) => !isToolName(name));
  if (unnamed >= 0)
    throw new AppError('INVALID_REQUEST', 'The name is not valid for a tool', { param: `tools.${unnamed}` });
  return [...new Set(names.map(toolOfFunctionName))].sort();
}

/** Ends a key. A key that was already revoked is unchanged. Throws NOT_FOUND. */
export function revokeKey(deps: KeyDeps, caller: Caller, id: AccessKeyId): Promise<AccessKeyRow> {
  const nowMs = deps.clock().getTime();
  const ulid = deps.newUlid(nowMs);
  return deps.ledger.submit({
    chain: { tenant: caller.tenant, session },
    wants: [wanted(accessKeys, id)],
    conclude: (batch) => {
      const key = batch.row(accessKeys, id);
      if (key?.tenant !== caller.tenant) throw new AppError('NOT_FOUND', 'The tenant has no key with this ID');
      if (key.revokedAtMs !== null) return () => key;
      const revoked = { ...key, revokedAtMs: nowMs };
      batch.seal(changeOf(deps, { caller, key: revoked, ulid, nowMs, action: 'access_key.revoke' }), () => ({
        changes: [put(accessKeys, revoked)],
      }));
      return () => revoked;
    },
  });
}

type KeyChange = { caller: Caller; key: AccessKeyRow; ulid: string; nowMs: number; action: string };

function changeOf({ hasher }: KeyDeps, { caller, key, ulid, nowMs, action }: KeyChange) {
  const { provider, saltOf } = hasher;
  const facts = {
    key_id: key.id,
    kind: key.kind,
    principal_id: key.principal,
    doors: [...key.doors],
    tools: key.tools === null ? null : [...key.tools],
    expires_at: instantOf(key.expiresAtMs),
  };
  return announcementStatement(provider, {
    ulid,
    at: instantOf(nowMs),
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
