import { AppError, type PrincipalId, type TenantId } from '@countersign/contracts';
import { identityKeysMax, type KeyThumbprint } from '@countersign/contracts/governance-kernel';
import type { LedgerBatch } from '../../ledger/batch.ts';
import { put, wanted } from '../../ledger/control.ts';
import type { SettingDeps } from '../policy/setting-statement.ts';
import { changeStatement, identitySession, noIdentity, requireActive } from './change-identities.ts';
import { verifyEnrolmentProof } from './enrolment-proof.ts';
import { identities, type IdentityKey, type IdentityRow } from './identities.ts';
import { identityKeys, type IdentityKeyRow } from './identity-keys.ts';
import { staleChallenge, type KeyChallenges } from './key-challenges.ts';

type Deps = SettingDeps & { keyChallenges: KeyChallenges; config: { publicUrl: string } };
type OfAgent = { tenant: TenantId; principal: PrincipalId; by: { principal: PrincipalId } };

/**
 * Enrols the key that signed a proof of possession, and seals the change. Throws INVALID_REQUEST for an invalid proof,
 * and ALREADY_EXISTS for a key that was enrolled before, even if it is revoked. Throws PRECONDITION_FAILED for a
 * challenge that has expired or is older than the last change of the agent's keys. Throws NOT_FOUND, and
 * ILLEGAL_TRANSITION for a revoked agent or one with too many keys.
 */
export async function enrolKey(deps: Deps, { by, ...agent }: OfAgent, proof: string): Promise<IdentityRow> {
  const now = deps.clock();
  const audience = deps.config.publicUrl;
  const proven = await verifyEnrolmentProof(deps.provider, proof, { ...agent, audience, now });
  const { kid, publicKey, nonce } = proven;
  const revision = deps.keyChallenges.revisionOf(agent, nonce);
  const nowMs = now.getTime();
  const made = { createdAtMs: nowMs, createdBy: by.principal, revokedAtMs: null, revokedBy: null };
  const key: IdentityKeyRow = { ...agent, kid, publicKey, ...made };
  return await changeKey(deps, { ...agent, kid }, (batch, identity) => {
    requireActive(identity);
    if (identity.revision !== revision) throw staleChallenge();
    if (batch.row(identityKeys, key) !== null)
      throw new AppError('ALREADY_EXISTS', 'This key was already enrolled in this tenant', { param: 'proof' });
    if (identity.liveKeys >= identityKeysMax)
      throw new AppError('ILLEGAL_TRANSITION', `An agent holds at most ${identityKeysMax} keys. Revoke one first`);
    const row = { ...identity, liveKeys: identity.liveKeys + 1, revision: identity.revision + 1 };
    const setting = { kid, public_key: publicKey };
    batch.seal(changeStatement(deps, row, { by, nowMs, action: 'identity.enrol_key', setting }), () => ({
      changes: [put(identities, row), put(identityKeys, key)],
    }));
    return row;
  });
}

/** Revokes a key permanently, and seals the change. A revoked key stays unchanged. Throws NOT_FOUND. */
export async function revokeKeyOfAgent(
  deps: SettingDeps,
  { by, ...agent }: OfAgent,
  kid: KeyThumbprint,
): Promise<IdentityRow> {
  const nowMs = deps.clock().getTime();
  return await changeKey(deps, { ...agent, kid }, (batch, identity) => {
    const key = batch.row(identityKeys, { tenant: agent.tenant, kid });
    if (key?.principal !== agent.principal) throw new AppError('NOT_FOUND', 'The agent has no key with this ID');
    if (key.revokedAtMs !== null) return identity;
    const row = { ...identity, liveKeys: identity.liveKeys - 1, revision: identity.revision + 1 };
    const revoked = { ...key, revokedAtMs: nowMs, revokedBy: by.principal };
    batch.seal(changeStatement(deps, row, { by, nowMs, action: 'identity.revoke_key', setting: { kid } }), () => ({
      changes: [put(identities, row), put(identityKeys, revoked)],
    }));
    return row;
  });
}

type KeyOfAgent = Omit<IdentityKey, 'kind'> & { kid: KeyThumbprint };

function changeKey(
  { ledger }: Pick<SettingDeps, 'ledger'>,
  { tenant, principal, kid }: KeyOfAgent,
  change: (batch: LedgerBatch, identity: IdentityRow) => IdentityRow,
): Promise<IdentityRow> {
  const agent = { tenant, kind: 'agent', principal } as const;
  return ledger.submit({
    chain: { tenant, session: identitySession },
    wants: [wanted(identities, agent), wanted(identityKeys, { tenant, kid })],
    conclude: (batch) => {
      const identity = batch.row(identities, agent);
      if (identity === null) throw noIdentity();
      const changed = change(batch, identity);
      return () => changed;
    },
  });
}
