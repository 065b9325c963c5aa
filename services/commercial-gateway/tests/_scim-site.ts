import { Instant, UserId } from '@countersign/contracts';
import type { RoleMapping } from '@countersign/contracts/commercial-gateway';
import { OrgId } from '@countersign/contracts/governance-kernel';
import { keepDomains, markVerified } from '../src/store/claimed-domains.ts';
import { writeIdentity } from '../src/store/identity-settings.ts';
import { putOrg } from '../src/store/orgs.ts';
import type { CommercialSite } from './_commercial.ts';

export type ScimAnswer = { status: number; headers: Headers; body: Record<string, unknown> & { id?: string } };
type Sent = { body?: unknown; headers?: Record<string, string> };
export type Scim = (request: string, sent?: Sent) => Promise<ScimAnswer>;

/** An organisation with a verified domain and a SCIM token. */
export type Directory = { orgId: OrgId; domain: string; tokenId: string; secret: string; scim: Scim };

const admin = UserId.parse('usr_01ARZ3NDEKTSV4RRFFQ69G5ADM');
let orgs = 0;

export async function newDirectory(site: CommercialSite, roleMappings: RoleMapping[] = []): Promise<Directory> {
  orgs += 1;
  const orgId = OrgId.parse(`org_01ARZ3NDEKTSV4RRFFQ69G5${String(orgs).padStart(3, '0')}`);
  const domain = `corp-${orgs}.example`;
  const { context } = site.gateway;
  const created_at = Instant.parse('2026-11-01T00:00:00.000Z');
  const now = new Date();
  await context.transaction((tx) => putOrg(tx, { org_id: orgId, name: domain, admin_id: admin, created_at }));
  const client = await site.as(admin);
  const query = { org_id: orgId };
  const { secret, token } = (await client.createScimToken({ query, body: { name: 'Directory' } })).body;
  await context.transaction(async (tx) => {
    const challenge = 'proven';
    await keepDomains(tx, { orgId, domains: [domain], newChallenge: () => challenge, now });
    await markVerified(tx, { orgId, proven: [{ domain, challenge }], now });
    const settings = { ssoRequired: false, oidcConnectionId: null, roleMappings };
    await writeIdentity(tx, { orgId, version: 1, ...settings, updatedBy: admin, updatedAt: now });
  });
  return { orgId, domain, tokenId: token.token_id, secret, scim: scimOf(site, secret) };
}

export async function revokeToken(site: CommercialSite, { orgId, tokenId }: Directory): Promise<void> {
  const client = await site.as(admin);
  await client.revokeScimToken({ params: { token_id: tokenId }, query: { org_id: orgId } });
}

/** Sends requests as an identity provider does: `scim('PATCH /Users/scu_…', { body })`. */
export function scimOf(site: CommercialSite, bearer: string): Scim {
  return async (request, { body, headers = {} } = {}) => {
    const [method = '', ...path] = request.split(' ');
    const response = await fetch(new URL(`/scim/v2${path.join(' ')}`, site.gateway.url), {
      method,
      headers: {
        authorization: `Bearer ${bearer}`,
        ...(body === undefined ? {} : { 'content-type': 'application/scim+json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const parsed = text === '' ? {} : (JSON.parse(text) as ScimAnswer['body']); // tests compare its members
    return { status: response.status, headers: response.headers, body: parsed };
  };
}
