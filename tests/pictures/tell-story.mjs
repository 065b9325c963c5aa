// Plays the work of three agents in one workspace, through the real routes of a running system.
import { createClient } from '@countersign/contracts';
import { createKernelClient, gatewayRoutes } from '@countersign/contracts/routes';

/** Results in about 450 calls. */
const rounds = 24;

/** Each agent with its calls: their number in each round, and their content. */
const agents = [
  {
    name: 'invoice-clerk',
    title: 'Invoice clerk',
    calls: [
      [3, { tool: 'ledger.read_balance', resource: 'account/4010' }],
      [2, { action: 'model.call', resource: 'gpt-5' }],
      [2, { tool: 'files.read_file', args: { path: 'invoices/kestrel-88.pdf' } }],
      [1, { tool: 'ledger.post_entry', resource: 'entry/2026-11-27/88', demand: { spend_minor: 300 } }],
    ],
  },
  {
    name: 'support-triage',
    title: 'Support triage',
    calls: [
      [2, { tool: 'tickets.read', resource: 'ticket/4711' }],
      [1, { tool: 'crm.read_contact', resource: 'contact/48213' }],
      [1, { tool: 'crm.update_contact', resource: 'contact/48213' }],
      [1, { action: 'model.call', resource: 'gpt-5-mini' }],
    ],
  },
  {
    name: 'market-scout',
    title: 'Market scout',
    calls: [
      [2, { tool: 'web.fetch', args: { url: 'https://kestrel-freight.example/prices' } }],
      [1, { tool: 'web.fetch', args: { url: 'https://rates.example/today' } }],
      [1, { action: 'model.call', resource: 'gpt-5-mini' }],
    ],
  },
];

/** Signs a person in without a browser, with the code that a development system returns. */
export async function signIn(system, email) {
  const anonymous = createClient(gatewayRoutes, { baseUrl: system.gatewayUrl });
  const { code } = (await anonymous.requestEmailCode({ body: { email } })).body;
  const { body } = await anonymous.verifyEmailCode({ body: { email, code } });
  const headers = { authorization: `Bearer ${body.token}`, 'x-workspace-id': body.workspace.id };
  return {
    id: body.workspace.id,
    client: createClient(gatewayRoutes, { baseUrl: system.gatewayUrl, headers: () => headers }),
  };
}

/** Plays the story. Returns the id of the workspace, its kernel clients and the counts of calls. */
export async function tellStory(system, { email }) {
  const { id, client } = await signIn(system, email);
  await client.putWorkspace({ params: { id }, query: {}, body: { name: 'Finance operations' } });
  await client.applyWorkspaceSettings({ params: { id } });
  const kernel = createKernelClient({ baseUrl: system.kernelUrl, apiKey: system.adminApiKey });
  const as = (principal) => kernel.as({ tenant: id, principal });
  const report = { decisions: 0, spendMinor: 0, scoutCalls: 0 };
  for (const { name, title } of agents) {
    const params = { directory: 'agents', principal: name };
    await as('ada').putIdentity({ params, query: {}, body: { display_name: title } });
    const body = { kind: 'agent', principal_id: name, expires_in_days: name === 'market-scout' ? 5 : 90 };
    await as('ada').createAccessKey({ query: {}, body });
  }
  await putBudgets(as('ada'), { spendLimit: 1_000_000, scoutLimit: 1_000 });
  for (let round = 0; round < rounds; round += 1) {
    await Promise.all(agents.map((agent) => callsOf(as(agent.name), { agent, round, told: report })));
    if (round === rounds - 8) await approveOne(as);
    if (round >= rounds - 3) await burst(as('invoice-clerk'), report);
  }
  // At the end one budget is 60 % used, and the other 95 %.
  await putBudgets(as('ada'), {
    spendLimit: Math.round(report.spendMinor / 0.6),
    scoutLimit: Math.floor(report.scoutCalls / 0.95),
  });
  await decide(as('invoice-clerk'), report, 'payments-run', {
    ...{ tool: 'payments.transfer', resource: 'supplier/kestrel-freight' },
    args: {
      amount_minor: 418_000,
      currency: 'EUR',
      creditor: { name: 'Kestrel Freight', iban: 'DE02120300000000202051' },
    },
    demand: { spend_minor: 0 },
  });
  await decide(as('support-triage'), report, 'refund-run', {
    ...{ tool: 'mail.send', resource: 'contact/48213' },
    args: {
      to: 'h.lindqvist@example.org',
      subject: 'Your refund of €42.00',
      body: 'Dear Ms Lindqvist, the refund is on its way.',
    },
  });
  return { id, as, told: report };
}

async function callsOf(client, { agent, round, told }) {
  const session = `${agent.name}-${Math.floor(round / 6)}`;
  for (const [times, call] of agent.calls) {
    for (let nth = 0; nth < times; nth += 1) await decide(client, told, session, call);
  }
  // Some calls that a rule denies.
  if (round % 9 === 4 && agent.name === 'support-triage')
    await decide(client, told, session, { tool: 'files.read_file', args: { path: 'app/.env' } });
  if (round % 7 === 3 && agent.name === 'invoice-clerk')
    await decide(client, told, session, { tool: 'ledger.delete_entry', resource: 'entry/88' });
  if (round % 11 === 5 && agent.name === 'market-scout')
    await decide(client, told, session, { action: 'data.export', resource: 'prices' });
}

async function decide(client, report, session_id, call) {
  const body = { action: 'tool.call', args: {}, session_id, ...call };
  const { verdict } = (await client.evaluate({ body })).body;
  report.decisions += 1;
  if (verdict === 'ALLOW') report.spendMinor += call.demand?.spend_minor ?? 0;
  if (verdict === 'ALLOW' && session_id.startsWith('market-scout') && call.tool !== undefined) report.scoutCalls += 1;
}

/** The cause of the incident: repeated calls of a tool that the policy denies. */
async function burst(client, report) {
  for (let nth = 0; nth < 12; nth += 1)
    await decide(client, report, 'post-bank-lines', { tool: 'ledger.purge_month', resource: 'month/2026-11' });
}

/** A person approves one transfer, and the agent makes it. */
async function approveOne(as) {
  const call = {
    action: 'tool.call',
    tool: 'payments.transfer',
    resource: 'supplier/harrow-paper',
    session_id: 'payments-run',
  };
  const args = { amount_minor: 21_000, currency: 'EUR', creditor: { name: 'Harrow Paper' } };
  const { approval } = (await as('invoice-clerk').evaluate({ body: { ...call, args } })).body;
  if (approval === undefined) throw new Error('The transfer did not wait for a person');
  const { ceremony_hash } = (await as('ada').listApprovals({ query: { approval_id: approval.approval_id } })).body
    .data[0];
  await as('ada').transitionApproval({
    params: { approval_id: approval.approval_id, action: 'approve' },
    body: { reason: 'known supplier' },
    headers: { 'if-match': `"${ceremony_hash}"`, 'idempotency-key': 'harrow-paper' },
    query: {},
  });
  await as('invoice-clerk').evaluate({ body: { ...call, args, approval_grant: approval.approval_id } });
}

async function putBudgets(client, { spendLimit, scoutLimit }) {
  const versions = new Map(
    (await client.listBudgets({ query: {} })).body.data.map(({ budget_id, version }) => [budget_id, version]),
  );
  const put = (budget_id, body) =>
    client.putBudget({
      params: { budget_id },
      query: {},
      body,
      ...(versions.has(budget_id) ? { headers: { 'if-match': `"${versions.get(budget_id)}"` } } : {}),
    });
  await put('payments-month', { subject: 'tenant', window: 'month', spend_limit_minor: spendLimit, currency: 'EUR' });
  await put('market-scout-month', { subject: 'agent:market-scout', window: 'month', tool_call_limit: scoutLimit });
}
