import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { Instant, UserId } from '@countersign/contracts';
import type { IdentitySettings } from '@countersign/contracts/commercial-gateway';
import { OrgId } from '@countersign/contracts/governance-kernel';
import { reaching } from '@countersign/testkit/until';
import { missingForSso } from '../src/identity/missing-for-sso.ts';
import { putOrg } from '../src/store/orgs.ts';
import { startCommercialSite, type CommercialClient, type CommercialSite } from './_commercial.ts';

const ulidOf = (index: number) => `01ARZ3NDEKTSV4RRFFQ69G5${String(index).padStart(3, '0')}`;
const owner = UserId.parse(`usr_${ulidOf(2)}`);
const stranger = UserId.parse(`usr_${ulidOf(3)}`);
const empty = { sso_required: false, oidc_connection_id: null, role_mappings: [], domains: [] };

/** The TXT records of this test's DNS, in pieces like in a DNS answer. */
const records = new Map<string, string[][]>();
const resolveTxt = async (name: string) => {
  const found = records.get(name);
  if (found === undefined) throw new Error('ENOTFOUND');
  return found;
};

let site: CommercialSite;
let orgs = 0;
let orgId: OrgId;
let person: CommercialClient;

beforeAll(async () => {
  site = await startCommercialSite({ resolveTxt });
});

afterAll(() => site?.stop());

beforeEach(async () => {
  site.directory.sso = { link_domains: ['sso.example'], admin_has_passkey: true };
  orgId = await newOrg();
  person = await site.as(owner);
});

async function newOrg(): Promise<OrgId> {
  orgs += 1;
  const org_id = OrgId.parse(`org_${ulidOf(orgs)}`);
  const created_at = Instant.parse('2026-11-01T00:00:00.000Z');
  const org = { org_id, name: `Org ${orgs}`, admin_id: owner, created_at };
  await site.gateway.context.transaction((tx) => putOrg(tx, org));
  return org_id;
}

const query = (org_id = orgId) => ({ org_id });
const read = async (org = orgId) => (await person.getIdentity({ query: query(org) })).body;
const put = async (version: number, change: object = {}, org = orgId): Promise<IdentitySettings> => {
  const headers = { 'if-match': `"${version}"` };
  return (await person.putIdentity({ query: query(org), body: { ...empty, ...change }, headers })).body;
};
const create = () => person.createScimToken({ query: query(), body: { name: 'Okta' } });

/** Publishes the TXT records that the settings require. */
function publish({ domains }: IdentitySettings, { value }: { value?: string } = {}): void {
  for (const { challenge } of domains) {
    const text = value ?? challenge.value;
    records.set(challenge.name, [['v=spf1 -all'], [text.slice(0, 10), text.slice(10)]]);
  }
}

const countEvents = () =>
  site.gateway.context.database.reader.outboxMessage.count({
    where: { type: 'identity.updated.v1', envelope: { contains: orgId } },
  });
const auditedActions = async () => {
  const rows = await site.gateway.context.database.reader.auditEntry.findMany({ where: { scope: orgId } });
  return rows.map(({ action }) => action).toSorted();
};

describe('a domain', () => {
  it('is verified only when its TXT record contains the challenge', async () => {
    const claimed = await put(0, { domains: ['Acme.example'] });
    expect(claimed).toMatchObject({ version: 1, domains: [{ domain: 'acme.example', status: 'pending' }] });
    const domains = ['acme.example'];
    expect((await put(1, { domains })).domains).toEqual(claimed.domains);
    publish(claimed, { value: 'countersign-verification=x' });
    expect((await put(2, { domains })).domains).toMatchObject([{ status: 'pending' }]);
    publish(claimed);
    expect((await put(3, { domains })).domains).toMatchObject([{ status: 'verified' }]);
    records.clear();
    expect((await put(4, { domains })).domains).toMatchObject([{ status: 'verified' }]);
    expect([await countEvents(), (await auditedActions()).length]).toEqual([5, 5]);
  });

  it('must be proven by each organisation, and is verified for only one at a time', async () => {
    const domains = ['shared.example'];
    const first = await put(0, { domains });
    publish(first);
    await put(1, { domains });
    const second = await newOrg();
    const claimed = await put(0, { domains }, second);
    expect((await put(1, { domains }, second)).domains).toMatchObject([{ status: 'pending' }]);
    publish(claimed);
    await expect(put(2, { domains }, second)).rejects.toMatchObject({ code: 'ALREADY_EXISTS', param: 'domains' });
    expect(await read(second)).toMatchObject({ version: 2, domains: [{ status: 'pending' }] });
    await put(2, { domains: [] });
    expect((await put(2, { domains }, second)).domains).toMatchObject([{ status: 'verified' }]);
  });

  it('gets a new challenge when it is claimed again', async () => {
    const domains = ['again.example'];
    const first = await put(0, { domains });
    publish(first);
    await put(1, { domains: [] });
    expect((await put(2, { domains })).domains).toMatchObject([{ status: 'pending' }]);
    expect((await put(3, { domains })).domains).toMatchObject([{ status: 'pending' }]);
  });

  it.each(['localhost', 'a..b', '*.example.com', 'example.com.', '10.0.0.1', 'a_b.example'])(
    'cannot be %s',
    async (name) => {
      await expect(put(0, { domains: [name] })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    },
  );
});

describe('identity settings', () => {
  it('change only with the current version, and only once for ten concurrent requests', async () => {
    const body = { ...empty };
    await expect(person.putIdentity({ query: query(), body })).rejects.toMatchObject({ code: 'PRECONDITION_REQUIRED' });
    await expect(put(1)).rejects.toMatchObject({ code: 'PRECONDITION_FAILED' });
    const role_mappings = [{ group: 'Engineering', role: 'member' }];
    const all = await Promise.allSettled(Array.from({ length: 10 }, () => put(0, { role_mappings })));
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await read()).toMatchObject({ version: 1, role_mappings, break_glass_user_id: owner });
    expect(await countEvents()).toBe(1);
  });

  it('need a connection and a verified domain to require single sign-on, and keep both while it is required', async () => {
    const sso = { sso_required: true, oidc_connection_id: 'acme', domains: ['sso.example'] };
    await expect(put(0, { ...sso, oidc_connection_id: null })).rejects.toMatchObject({
      code: 'GATE_NOT_PASSED',
      message: 'sso_required cannot be true without an OIDC connection that exists, and a verified domain',
      details: { missing: ['oidc_connection', 'verified_domain'] },
    });
    expect(await read()).toMatchObject({ version: 0, domains: [] });
    publish(await put(0, { domains: sso.domains }));
    expect(await put(1, sso)).toMatchObject({ sso_required: true, oidc_connection_id: 'acme' });
    await expect(put(2, { ...sso, domains: [] })).rejects.toMatchObject({ code: 'GATE_NOT_PASSED' });
    expect(await read()).toMatchObject({ version: 2, domains: [{ status: 'verified' }] });
  });

  it('are published again when their last publication is six hours old', async () => {
    await put(0);
    const { transaction, database } = site.gateway.context;
    const state = () => database.reader.entitlementState.findUnique({ where: { orgId } });
    await reaching(state, (row) => row !== null && row.published !== '');
    expect(await countEvents()).toBe(1);
    const sixHoursAgo = new Date(Date.now() - 6 * 3_600_000);
    const data = { publishedAt: sixHoursAgo, dueAt: sixHoursAgo };
    await transaction((tx) => tx.entitlementState.update({ where: { orgId }, data }));
    await reaching(countEvents, (count) => count === 2);
  });

  it('need the capability to begin to require single sign-on, but not to keep requiring it', () => {
    const after = { ssoRequired: true, connectionId: 'acme', verifiedDomains: ['sso.example'] };
    const readiness = { linkDomains: ['sso.example'], adminHasPasskey: true };
    expect(missingForSso(after, { wasRequired: false, capabilities: [], readiness })).toEqual(['sso_capability']);
    expect(missingForSso(after, { wasRequired: true, capabilities: [], readiness })).toEqual([]);
    expect(missingForSso(after, { wasRequired: false, capabilities: ['sso'], readiness })).toEqual([]);
  });

  it('require single sign-on only if the connection signs in every domain and the administrator has a passkey', async () => {
    const sso = { sso_required: true, oidc_connection_id: 'acme', domains: ['locked.example'] };
    publish(await put(0, { domains: sso.domains }));
    const missing = async (state: object | null) => {
      site.directory.sso = state;
      return put(1, sso).catch(({ code, details }: { code: string; details?: { missing?: unknown } }) => ({
        ...{ code, missing: details?.missing },
      }));
    };
    const code = 'GATE_NOT_PASSED';
    const ready = { link_domains: ['other.example', 'locked.example'], admin_has_passkey: true };
    expect(await missing({ ...ready, link_domains: ['other.example'] })).toEqual({
      ...{ code, missing: ['connection_for_every_domain'] },
    });
    expect(await missing({ ...ready, link_domains: null })).toEqual({ code, missing: ['oidc_connection'] });
    expect(await missing({ ...ready, admin_has_passkey: false })).toEqual({ code, missing: ['break_glass_passkey'] });
    expect(await missing(null)).toMatchObject({ code: 'CONTROL_PLANE_UNAVAILABLE' });
    expect(await missing(ready)).toMatchObject({ version: 2, sso_required: true });
    site.directory.sso = { ...ready, admin_has_passkey: false };
    expect(await put(2, { ...sso, role_mappings: [{ group: 'Pilots', role: 'member' }] })).toMatchObject({
      version: 3,
    });
    site.directory.sso = null;
    expect(await put(3, { ...sso, sso_required: false })).toMatchObject({ version: 4, sso_required: false });
  });

  it('are only for the administrator of the organisation, and changes need a fresh proof of presence', async () => {
    const second = await site.as(stranger);
    const headers = { 'if-match': '"0"' };
    const refused = [
      () => second.getIdentity({ query: query() }),
      () => second.putIdentity({ query: query(), body: empty, headers }),
      () => second.createScimToken({ query: query(), body: { name: 'x' } }),
      () => second.revokeScimToken({ params: { token_id: 'x' }, query: query() }),
    ];
    for (const call of refused) await expect(call()).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const stale = await site.as(owner, 301);
    const late = [
      () => stale.putIdentity({ query: query(), body: empty, headers }),
      () => stale.createScimToken({ query: query(), body: { name: 'x' } }),
      () => stale.revokeScimToken({ params: { token_id: 'x' }, query: query() }),
    ];
    for (const call of late) await expect(call()).rejects.toMatchObject({ code: 'REAUTHENTICATION_REQUIRED' });
    expect([await read(), await auditedActions()]).toMatchObject([{ version: 0, scim_tokens: [] }, []]);
  });
});

describe('a SCIM token', () => {
  it('shows its secret once and is stored as a hash', async () => {
    const { body } = await create();
    expect(body.secret).toMatch(/^cst_[\w-]{43}$/);
    expect((await read()).scim_tokens).toEqual([body.token]);
    const rows = await site.gateway.context.database.reader.scimToken.findMany({ where: { orgId } });
    expect(rows.map(({ secretHash }) => secretHash)).toEqual([createHash('sha256').update(body.secret).digest('hex')]);
    expect(JSON.stringify([await read(), rows])).not.toContain(body.secret.slice(4));
    expect(Date.parse(body.token.expires_at) - Date.parse(body.token.created_at)).toBe(365 * 86_400_000);
  });

  it('is revoked once, and only by its own organisation', async () => {
    const { token_id } = (await create()).body.token;
    const second = await newOrg();
    const revoke = (org = orgId) => person.revokeScimToken({ params: { token_id }, query: query(org) });
    await expect(revoke(second)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect((await read()).scim_tokens).toHaveLength(1);
    expect([(await revoke()).body, (await revoke()).body]).toEqual([{ revoked: true }, { revoked: true }]);
    expect((await read()).scim_tokens).toEqual([]);
    expect(await auditedActions()).toEqual(['scim_token.created', 'scim_token.revoked']);
  });

  it('is not found by a malformed ID', async () => {
    const revoke = (token_id: string) => person.revokeScimToken({ params: { token_id }, query: query() });
    for (const id of ['a\u0000b', 'sct_unknown', "'"])
      await expect(revoke(id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('is one of at most ten, even when fifteen are requested at once', async () => {
    const all = await Promise.allSettled(Array.from({ length: 15 }, create));
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
    await expect(create()).rejects.toMatchObject({ code: 'GATE_NOT_PASSED' });
  });

  it('requires the capability', async () => {
    const free = await startCommercialSite({ env: { GOV_BASE_PLAN: 'free' } });
    try {
      const org = {
        org_id: orgId,
        name: 'Free',
        admin_id: owner,
        created_at: Instant.parse('2026-11-01T00:00:00.000Z'),
      };
      await free.gateway.context.transaction((tx) => putOrg(tx, org));
      const client = await free.as(owner);
      await expect(client.createScimToken({ query: query(), body: { name: 'x' } })).rejects.toMatchObject({
        code: 'GATE_NOT_PASSED',
        details: { missing: ['scim_capability'] },
      });
    } finally {
      await free.stop();
    }
  });
});
