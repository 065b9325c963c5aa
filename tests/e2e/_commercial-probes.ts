import { createClient } from '@countersign/contracts';
import * as commercial from '@countersign/contracts/commercial-gateway';
import { bootstrapOrg } from '@countersign/contracts/control-plane';
import { untilAnswered, patienceMs } from '@countersign/testkit/until';
import { askBasic } from './_basic-probes.ts';
import { untilReady, type Published } from './_published.ts';
import { signIn } from './_system.ts';

type Doors = {
  gatewayUrl: string;
  serviceApiKey: string;
  /** The commercial gateway through the gateway, as people reach it. */
  door: Published;
  /** The commercial gateway at its own address. */
  direct: Published;
};

/** Calls the routes of the commercial gateway that a person or a sibling service may call. */
export async function askCommercial({ gatewayUrl, serviceApiKey, door, direct }: Doors): Promise<void> {
  for (const route of [commercial.showFrontPage, commercial.getOpenApi, commercial.getHealth]) await direct.ask(route);
  await direct.ask(commercial.getLiveness);
  await untilReady(direct, commercial.getReadiness);
  await door.ask(commercial.getCommercialStatus);
  const { headers, orgId, workspaceId } = await newOrg(gatewayUrl);
  const params = { tenant_id: orgId };
  // The commercial gateway learns of the organisation from an event.
  await untilAnswered(async () => (await door.ask(commercial.getBillingAccount, { headers, params })).status === 200);
  // The plan of a new organisation has every capability. The plan chosen below does not.
  await askTerms(door, { headers, query: { org_id: orgId } });
  await askBilling(door, { headers, params });
  await askBasic(door, { headers: { ...headers, 'x-workspace-id': workspaceId }, orgId });
  const event = { id: 'tokens-1', source: '/probes', type: 'usage.model_tokens.v1' };
  await direct.ask(commercial.recordUsageEvents, {
    headers: { authorization: `Bearer ${serviceApiKey}` },
    body: { tenant_id: orgId, events: [event] },
  });
}

type NewOrg = { headers: Record<string, string>; orgId: string; workspaceId: string };

async function newOrg(gatewayUrl: string): Promise<NewOrg> {
  const { token, workspaceId } = await signIn({ gatewayUrl }, 'billing@example.org');
  const headers = { authorization: `Bearer ${token}` };
  const person = createClient({ bootstrapOrg }, { baseUrl: gatewayUrl, headers: () => headers, timeoutMs: patienceMs });
  const { body } = await person.bootstrapOrg({ body: { name: 'Billed' } });
  return { headers, orgId: body.org_id, workspaceId };
}

type OfOrg = { headers: Record<string, string>; params: { tenant_id: string } };

async function askBilling(door: Published, here: OfOrg): Promise<void> {
  await door.ask(commercial.listBillingPlans, { headers: here.headers });
  const plan = { plan_id: 'team', plan_version: 1 };
  await door.ask(commercial.putSubscription, { ...here, body: { plan } });
  // Without a payment provider there is no payment page, and every payment event is rejected.
  await door.ask(commercial.startCheckout, { ...here, body: { purpose: 'subscription', plan } });
  await door.ask(commercial.receivePaymentEvent, { params: { provider: 'stripe' }, body: {} });
  await door.ask(commercial.putBudget, { ...here, body: { amount_minor: 10_000, currency: 'EUR' } });
  for (const route of [commercial.getUsage, commercial.listInvoices, commercial.listLedger])
    await door.ask(route, here);
}

async function askTerms(
  door: Published,
  here: { headers: Record<string, string>; query: { org_id: string } },
): Promise<void> {
  await door.ask(commercial.getEntitlements, here);
  await door.ask(commercial.checkEntitlements, { ...here, body: { name: 'tool_calls' } });
  await door.ask(commercial.getIdentity, here);
  const period = { from: '2026-01-01T00:00:00.000Z', to: '2026-02-01T00:00:00.000Z' };
  const body = { ...here.query, framework: 'soc2', ...period };
  const created = await door.ask(commercial.createComplianceReport, { headers: here.headers, body });
  await door.ask(commercial.listComplianceReports, here);
  const { report_id } = commercial.createComplianceReport.reply.parse(created.body);
  await door.ask(commercial.getComplianceReport, { ...here, params: { report_id } });
}
