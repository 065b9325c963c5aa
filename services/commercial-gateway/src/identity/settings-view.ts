import { instantOrNull, instantOf } from '@countersign/contracts';
import type { IdentitySettings, ScimTokenView } from '@countersign/contracts/commercial-gateway';
import { listClaimedDomains, type StoredDomain } from '../store/claimed-domains.ts';
import type { Reader } from '../store/database.ts';
import { findIdentity } from '../store/identity-settings.ts';
import type { Org } from '../store/orgs.ts';
import { listLiveScimTokens, type StoredScimToken } from '../store/scim-tokens.ts';
import { challengeRecord } from './domain-challenge.ts';

/** Returns the identity settings of an organisation in the form of the API. */
export async function settingsView(
  reader: Reader,
  { org, now }: { org: Pick<Org, 'id' | 'adminId'>; now: Date },
): Promise<IdentitySettings> {
  const settings = await findIdentity(reader, org.id);
  const [domains, tokens] = [await listClaimedDomains(reader, org.id), await listLiveScimTokens(reader, org.id, now)];
  return {
    org_id: org.id,
    version: settings.version,
    sso_required: settings.ssoRequired,
    oidc_connection_id: settings.oidcConnectionId,
    role_mappings: settings.roleMappings,
    break_glass_user_id: org.adminId,
    domains: domains.map(domainView),
    scim_tokens: tokens.map(scimTokenView),
  };
}

export function scimTokenView({
  id,
  name,
  createdBy,
  createdAt,
  expiresAt,
  lastUsedAt,
}: StoredScimToken): ScimTokenView {
  return {
    ...{ token_id: id, name, created_by: createdBy },
    ...{ created_at: instantOf(createdAt), expires_at: instantOf(expiresAt) },
    last_used_at: instantOrNull(lastUsedAt),
  };
}

function domainView({ domain, challenge, claimedAt, verifiedAt }: StoredDomain): IdentitySettings['domains'][number] {
  return {
    domain,
    status: verifiedAt === null ? 'pending' : 'verified',
    challenge: challengeRecord({ domain, challenge }),
    claimed_at: instantOf(claimedAt),
    verified_at: instantOrNull(verifiedAt),
  };
}
