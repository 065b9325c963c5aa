import { AppError } from '@countersign/contracts';
import type { IdentitySettings, RoleMapping } from '@countersign/contracts/commercial-gateway';
import { isUniqueViolation } from '@countersign/database';
import { canonicalize } from '@countersign/crypto';
import { requireMatch } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { entitlementsOf } from '../entitlements/entitlements-of.ts';
import { publishIdentityUpdated } from '../events.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { recordAudit } from '../store/audit.ts';
import { keepDomains, listClaimedDomains, listVerifiedDomains, markVerified } from '../store/claimed-domains.ts';
import type { Tx } from '../store/database.ts';
import { findIdentity, lockIdentity, writeIdentity } from '../store/identity-settings.ts';
import type { Org } from '../store/orgs.ts';
import { markEffectsDue } from '../store/scim-users.ts';
import { newChallenge } from './domain-challenge.ts';
import { missingForSso, requirementsText, type SsoReadiness } from './missing-for-sso.ts';
import { settingsView } from './settings-view.ts';
import { verifyDomains } from './verify-domains.ts';

type IdentityDeps = Pick<
  Context,
  'database' | 'transaction' | 'newEvent' | 'now' | 'entitlementTerms' | 'resolveTxt' | 'directory'
>;

type NewSettings = {
  ssoRequired: boolean;
  oidcConnectionId: string | null;
  roleMappings: readonly RoleMapping[];
  domains: readonly string[];
};

type SettingsCaller = { org: Org; actor: string; requestId: string | null; tags: readonly string[] | null };

/**
 * Replaces the settings if their version is still the one that the caller read. DNS and the control plane are queried
 * before the transaction. Throws PRECONDITION_REQUIRED, PRECONDITION_FAILED, GATE_NOT_PASSED, ALREADY_EXISTS and
 * CONTROL_PLANE_UNAVAILABLE.
 */
export async function putSettings(
  deps: IdentityDeps,
  settings: NewSettings,
  caller: SettingsCaller,
): Promise<IdentitySettings> {
  const { id: orgId } = caller.org;
  const claims = await listClaimedDomains(deps.database.reader, orgId);
  const pending = claims.filter(({ domain, verifiedAt }) => verifiedAt === null && settings.domains.includes(domain));
  const proven = await verifyDomains(deps, pending);
  const readiness = await readinessOf(deps, orgId, settings);
  try {
    const replacement = { settings, proven, readiness, caller, now: deps.now() };
    return await deps.transaction((tx) => replaceSettings(tx, deps, replacement));
  } catch (error) {
    if (!isUniqueViolation(error, 'claimed_domains_one_owner')) throw error;
    throw new AppError(
      'ALREADY_EXISTS',
      'Another organisation has verified one of these domains. It must remove the domain first',
      { param: 'domains' },
    );
  }
}

/** `null` when the settings require no single sign-on, or name no connection. */
async function readinessOf(
  { directory }: Pick<IdentityDeps, 'directory'>,
  orgId: Org['id'],
  { ssoRequired, oidcConnectionId: connection_id }: NewSettings,
): Promise<SsoReadiness | null> {
  if (!ssoRequired || connection_id === null) return null;
  const { link_domains, admin_has_passkey } = await answerOf('control plane', () =>
    directory.getSsoReadiness({ params: { org_id: orgId }, query: { connection_id } }),
  );
  return { linkDomains: link_domains, adminHasPasskey: admin_has_passkey };
}

type Replacement = {
  settings: NewSettings;
  proven: readonly { domain: string; challenge: string }[];
  readiness: SsoReadiness | null;
  caller: SettingsCaller;
  now: Date;
};

async function replaceSettings(
  tx: Tx,
  deps: IdentityDeps,
  { settings, proven, readiness, caller: { org, actor, requestId, tags }, now }: Replacement,
): Promise<IdentitySettings> {
  const { id: orgId } = org;
  await lockIdentity(tx, orgId, { actor, now });
  const before = await findIdentity(tx, orgId);
  requireMatch(tags, String(before.version));
  await keepDomains(tx, { orgId, domains: settings.domains, newChallenge, now });
  await markVerified(tx, { orgId, proven, now });
  const verifiedDomains = await listVerifiedDomains(tx, orgId);
  await assertSso(tx, deps, { orgId, now, settings, wasRequired: before.ssoRequired, verifiedDomains, readiness });
  const { ssoRequired, oidcConnectionId, roleMappings } = settings;
  const version = before.version + 1;
  await writeIdentity(tx, {
    ...{ orgId, version, ssoRequired, oidcConnectionId, roleMappings: [...roleMappings] },
    ...{ updatedBy: actor, updatedAt: now },
  });
  if (canonicalize(before.roleMappings) !== canonicalize([...roleMappings])) await markEffectsDue(tx, orgId, 'all');
  const view = await settingsView(tx, { org, now });
  await publishIdentityUpdated(tx, deps, view);
  const domains = settings.domains.length;
  const details = { version, sso_required: ssoRequired, domains, verified_domains: verifiedDomains };
  const act = { scope: orgId, action: 'identity.updated', actor, requestId, details } as const;
  await recordAudit(tx, { ...act, verdict: 'allow' }, now);
  return view;
}

type SsoCheck = {
  orgId: Org['id'];
  now: Date;
  settings: NewSettings;
  wasRequired: boolean;
  verifiedDomains: readonly string[];
  readiness: SsoReadiness | null;
};

async function assertSso(
  tx: Tx,
  { entitlementTerms }: Pick<IdentityDeps, 'entitlementTerms'>,
  { orgId, now, settings, wasRequired, verifiedDomains, readiness }: SsoCheck,
): Promise<void> {
  const { capabilities } = await entitlementsOf(tx, entitlementTerms, { orgId, now });
  const { ssoRequired, oidcConnectionId: connectionId } = settings;
  const missing = missingForSso(
    { ssoRequired, connectionId, verifiedDomains },
    { wasRequired, capabilities, readiness },
  );
  if (missing.length === 0) return;
  throw new AppError('GATE_NOT_PASSED', `sso_required cannot be true without ${requirementsText(missing)}`, {
    param: 'sso_required',
    details: { missing },
  });
}
