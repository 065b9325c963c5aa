import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ProjectId, UserId, type InvoiceId } from '@countersign/contracts';
import { until } from '@countersign/testkit/until';
import { newProjectId } from '../src/ids.ts';
import type { CommercialClient } from './_commercial.ts';
import {
  endPeriod,
  lastInvoiceId,
  operator,
  startPaying,
  subscribeWith,
  type Payer,
  type Paying,
} from './_payments.ts';

/** Two organisations with the same objects. The attacker knows every ID and cursor of the other one. */
let paying: Paying;
let [own, victim]: [Payer, Payer] = [] as never; // set before each use
let [client, victimClient]: [CommercialClient, CommercialClient] = [] as never; // set before each use
let theirInvoice: InvoiceId;

beforeAll(async () => {
  paying = await startPaying();
  [own, victim] = [paying.newOrg(), paying.newOrg()];
  for (const payer of [own, victim]) await subscribeWith(paying, payer, 'pm_ok');
  await endPeriod(paying, victim);
  await until(async () => {
    await paying.pass();
    const { reader } = paying.site.gateway.context.database;
    return (await reader.invoice.count({ where: { status: 'paid' } })) === 2;
  });
  [client, victimClient] = [await own.client(), await victim.client()];
  theirInvoice = await lastInvoiceId(paying, victim);
});
afterAll(() => paying?.stop());

/** Returns everything of the other organisation that a request could change. */
async function stateOfVictim(): Promise<string> {
  const { reader } = paying.site.gateway.context.database;
  const where = { orgId: victim.orgId };
  const rows = await Promise.all([
    reader.invoice.findMany({ where }),
    reader.ledgerEntry.findMany({ where, orderBy: [{ transactionId: 'asc' }, { position: 'asc' }] }),
    reader.refund.findMany({ where }),
    reader.checkout.findMany({ where }),
    reader.scimToken.findMany({ where }),
    reader.auditEntry.findMany({ where: { scope: victim.orgId }, orderBy: { seq: 'asc' } }),
  ]);
  return JSON.stringify(rows, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}

const notFound = { code: 'NOT_FOUND', status: 404 };

describe("the ID of another organisation's object in a request about the caller's own organisation", () => {
  it('is an unknown invoice for every route with an invoice, and nothing changes', async () => {
    const before = await stateOfVictim();
    const invoice_id = theirInvoice;
    const params = { ...own.params, invoice_id };
    await expect(client.getInvoice({ params, query: {} })).rejects.toMatchObject(notFound);
    await expect(client.getInvoice({ params, query: { meter: 'tool_calls' } })).rejects.toMatchObject(notFound);
    const body = { purpose: 'invoice', invoice_id } as const;
    await expect(client.startCheckout({ params: own.params, body })).rejects.toMatchObject(notFound);
    const admin = await paying.site.as(operator);
    const refund = { amount_minor: 1, currency: 'EUR', reference: 'stolen' };
    const misplaced = admin.refundInvoice({ params: { org_id: own.orgId, invoice_id }, body: refund });
    await expect(misplaced).rejects.toMatchObject(notFound);
    expect(await stateOfVictim()).toBe(before);
  });

  it('is an unknown SCIM token, and the token stays valid', async () => {
    const { reader } = paying.site.gateway.context.database;
    const { context } = paying.site.gateway;
    const id = 'sct_01ARZ3NDEKTSV4RRFFQ69G5FA1' as never; // a valid token ID
    const times = { createdAt: paying.now(), expiresAt: new Date(paying.now().getTime() + 1_000), lastUsedAt: null };
    const token = { id, orgId: victim.orgId, name: 'Theirs', createdBy: operator, ...times, secretHash: 'none' };
    await context.transaction(async (tx) => void (await tx.scimToken.create({ data: token })));
    const revoking = client.revokeScimToken({ params: { token_id: id }, query: { org_id: own.orgId } });
    await expect(revoking).rejects.toMatchObject(notFound);
    expect((await reader.scimToken.findUniqueOrThrow({ where: { id } })).revokedAt).toBeNull();
  });

  it('is an unknown project', async () => {
    const { context } = paying.site.gateway;
    const id = ProjectId.parse(newProjectId());
    const project = { id, orgId: victim.orgId, name: 'Theirs', createdBy: operator, createdAt: paying.now() };
    await context.transaction(async (tx) => void (await tx.project.create({ data: project })));
    const admin = UserId.parse(own.orgId.replace('org_', 'usr_'));
    const basic = await paying.site.asBasic({ sub: admin });
    const created = basic.createBasicWorkspace({ body: { name: 'Mine', project_id: id } });
    await expect(created).rejects.toMatchObject(notFound);
    await expect(basic.listProjects({ query: { org_id: victim.orgId } })).rejects.toMatchObject(notFound);
    expect((await basic.listProjects({ query: { org_id: own.orgId } })).body.data).toEqual([]);
  });
});

describe('a cursor of another organisation', () => {
  it("returns only rows of the caller's organisation", async () => {
    const first = { limit: 1 };
    const { body: theirs } = await victimClient.listLedger({ params: victim.params, query: first });
    const cursor = theirs.next_cursor ?? '';
    expect(cursor).not.toBe('');
    const { body: mine } = await client.listLedger({ params: own.params, query: { cursor } });
    const all = (await client.listLedger({ params: own.params, query: {} })).body.data;
    const ids = new Set(all.map(({ ledger_transaction_id: id }) => id));
    expect(mine.data.every(({ ledger_transaction_id: id }) => ids.has(id))).toBe(true);
    const invoices = { cursor: Buffer.from(`ivc_${'Z'.repeat(26)}`).toString('base64url') };
    const { body: listed } = await client.listInvoices({ params: own.params, query: invoices });
    expect(listed.data.map(({ invoice_id }) => invoice_id)).not.toContain(theirInvoice);
    const wrong = { cursor: Buffer.from(victim.orgId).toString('base64url') };
    await expect(client.listInvoices({ params: own.params, query: wrong })).rejects.toMatchObject({ param: 'cursor' });
  });
});

describe('an Idempotency-Key that another organisation used', () => {
  it('returns no answer of that organisation, and neither does a reference', async () => {
    const { reader } = paying.site.gateway.context.database;
    const headers = { 'idempotency-key': 'shared' };
    const body = { purpose: 'subscription', plan: { plan_id: 'team', plan_version: 1 } } as never; // branded IDs
    const { body: theirs } = await victimClient.startCheckout({ params: victim.params, body, headers });
    const { body: mine } = await client.startCheckout({ params: own.params, body, headers });
    expect(mine.checkout_id).not.toBe(theirs.checkout_id);
    const { orgId } = await reader.checkout.findUniqueOrThrow({ where: { id: mine.checkout_id } });
    expect(orgId).toBe(own.orgId);
    const admin = await paying.site.as(operator);
    const credit = { kind: 'promotional', currency: 'EUR', amount_minor: 5, expires_at: null, reason: 'x' } as const;
    const grant = (org_id: string, reference: string) =>
      admin.grantOrgCredit({ params: { org_id }, body: { ...credit, reference }, headers });
    const [first, second] = [await grant(victim.orgId, 'same'), await grant(own.orgId, 'same')];
    expect(first.body.credit_grant_id).not.toBe(second.body.credit_grant_id);
    expect(await reader.creditGrant.count({ where: { orgId: own.orgId } })).toBe(1);
  });
});
