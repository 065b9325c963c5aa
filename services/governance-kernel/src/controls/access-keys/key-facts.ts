import { AppError, toolOfFunctionName } from '@countersign/contracts';
import { isPersonName, toolsNamed, type Fact, type Facts, type IdentityFact, type Intent } from '@countersign/policy';
import type { Caller } from '../../call/governed-call.ts';
import { identities, wantedIdentity, type IdentityRow } from '../identities/identities.ts';
import { identityKeys, type IdentityKeyRow } from '../identities/identity-keys.ts';
import type { LedgerBatch } from '../../ledger/batch.ts';
import { wanted, type Wanted } from '../../ledger/control.ts';
import { authProfiles } from '../auth-profiles/auth-profiles.ts';
import { neededScopes } from '../auth-profiles/needed-scopes.ts';
import { parseToolAddress } from '../../registry/tool-definition.ts';
import { accessKeys, hasEnded, type AccessKeyRow } from './access-keys.ts';

export function wantedKey({ accessKey }: Pick<Caller, 'accessKey'>): Wanted[] {
  return accessKey === undefined ? [] : [wanted(accessKeys, accessKey)];
}

/** The sets with the caller's entry in the registry and with the key of its credential. */
export function wantedIdentityOf(caller: Caller): Wanted[] {
  const { tenant, agentKey: kid } = caller;
  const ofToken = kid === undefined ? [] : [wanted(identityKeys, { tenant, kid })];
  return [wantedIdentity(caller, 'agent'), ...wantedKey(caller), ...ofToken];
}

/**
 * The identity of the caller. A key is judged by its current state. Every caller is also judged by the registry's entry
 * for an agent of its name.
 */
export function identityFact(batch: LedgerBatch, caller: Caller, nowMs: number): Fact<IdentityFact> {
  const { tenant, principal } = caller;
  const enrolled = batch.row(identities, { tenant, kind: 'agent', principal });
  return { state: 'known', value: { ...credentialOf(batch, caller, nowMs), enrolment: enrolmentOf(enrolled) } };
}

function enrolmentOf(identity: IdentityRow | null): IdentityFact['enrolment'] {
  if (identity === null) return 'none';
  return identity.revokedAtMs === null ? 'active' : 'revoked';
}

function credentialOf(batch: LedgerBatch, caller: Caller, nowMs: number): Omit<IdentityFact, 'enrolment'> {
  const { tenant, principal, accessKey, agentKey, assertion, isVisitor, oauth } = caller;
  if (accessKey !== undefined) {
    const state = stateOf(batch.row(accessKeys, accessKey), caller, nowMs);
    return { credential: 'access_key', credential_id: accessKey, credential_state: state };
  }
  if (agentKey !== undefined) {
    const state = signingStateOf(batch.row(identityKeys, { tenant, kid: agentKey }), caller);
    return { credential: 'agent_token', credential_id: agentKey, credential_state: state };
  }
  if (oauth !== undefined) {
    const state = isPersonName(principal) ? 'unknown' : 'active';
    return { credential: 'oauth_token', credential_id: oauth.clientId, credential_state: state };
  }
  if (assertion !== undefined)
    return { credential: 'assertion', credential_id: assertion.keyId, credential_state: 'active' };
  return { credential: isVisitor === true ? 'none' : 'operator_key', credential_id: null, credential_state: 'active' };
}

function stateOf(key: AccessKeyRow | null, { tenant, principal }: Caller, nowMs: number) {
  if (key?.tenant !== tenant || key.principal !== principal || key.kind !== 'agent') return 'unknown';
  // An agent key with the name of a person is older than the rule that forbids such names.
  if (isPersonName(principal)) return 'unknown';
  return hasEnded(key, nowMs) ? 'revoked' : 'active';
}

/** The state of a key that signs tokens. Its tenant matches, since the lookup key contains the tenant. */
function signingStateOf(key: IdentityKeyRow | null, { principal }: Caller) {
  if (key?.principal !== principal || isPersonName(principal)) return 'unknown';
  return key.revokedAtMs === null ? 'active' : 'revoked';
}

/** Throws CREDENTIALS_INVALID unless this key of this approver is valid at the commit. */
export function requireApproverKey(
  batch: LedgerBatch,
  { id, tenant, principal }: Pick<AccessKeyRow, 'id' | 'tenant' | 'principal'>,
  nowMs: number,
): void {
  const key = batch.row(accessKeys, id);
  const isTheirs = key?.tenant === tenant && key.principal === principal && key.kind === 'approver';
  if (isTheirs && !hasEnded(key, nowMs)) return;
  throw new AppError('CREDENTIALS_INVALID', 'The approver key has expired or was revoked');
}

/**
 * A key with a list of tools may call only these tools and the model. It may neither let a provider run other tools nor
 * call other actions without a tool.
 */
function toolsOfKey(batch: LedgerBatch, { accessKey }: Caller, intent: Intent): Scopes | null {
  const granted = accessKey === undefined ? null : (batch.row(accessKeys, accessKey)?.tools ?? null);
  const tools = toolsNamed(intent).map(toolOfFunctionName);
  const required = tools.length === 0 && intent.action !== 'model.call' ? [intent.action] : tools;
  return granted === null || required.length === 0 ? null : { required, granted: [...granted] };
}

type Scopes = { required: string[]; granted: string[] };

/** The tools of the key, and the scopes that the tenant's profiles require for a tool of a server. */
export function scopesFact(batch: LedgerBatch, caller: Caller, intent: Intent): Facts['scopes'] {
  const ofKey = toolsOfKey(batch, caller, intent);
  const address = intent.tool === null ? null : parseToolAddress(intent.tool);
  const profiles = address === null ? [] : batch.rows(authProfiles, caller.tenant);
  const ofToken = address === null || profiles.length === 0 ? null : neededScopes(profiles, address, caller);
  const all = [ofKey, ofToken].filter((scopes) => scopes !== null && scopes.required.length > 0);
  if (all.length === 0) return { state: 'not_applicable' };
  const required = all.flatMap((scopes) => scopes?.required ?? []);
  return { state: 'known', value: { required, granted: all.flatMap((scopes) => scopes?.granted ?? []) } };
}

/** The sets that `scopesFact` reads. */
export function wantedScopes(caller: Caller, intent: Pick<Intent, 'tool'>): Wanted[] {
  return intent.tool === null ? wantedKey(caller) : [...wantedKey(caller), wanted(authProfiles, caller.tenant)];
}
