import { expect } from '@jest/globals';
import * as controlPlane from '@countersign/contracts/control-plane';
import { evaluate } from '@countersign/contracts/governance-kernel';
import { createClient, type AnyRoute } from '@countersign/contracts';
import { untilAnswered } from '@countersign/testkit/until';
import type { Body } from './_ask.ts';
import type { Probe, Published } from './_published.ts';
import { signIn } from './_system.ts';

/** Calls the routes of the control plane for one workspace, as its only owner. */
export async function askConsole(published: Published, gatewayUrl: string): Promise<void> {
  const owner = await signIn({ gatewayUrl }, 'console@example.org');
  const headers = { authorization: `Bearer ${owner.token}` };
  const params = { id: owner.workspaceId };
  const name = { name: 'crawler' } as never; // the schema adds defaults
  const { key } = (await owner.client.createApiKey({ body: name })).body;
  const agent = createClient(
    { evaluate },
    { baseUrl: gatewayUrl, headers: () => ({ authorization: `Bearer ${key}` }) },
  );
  const call = { action: 'tool.call', tool: 'mail.send', effect_level: 'E3', session_id: 'console' } as never;
  const { receipt_id } = (await agent.evaluate({ body: call })).body;
  const query = { state: 'pending' };
  const listed = await published.ask(controlPlane.listInboxApprovals, { params, headers, query });
  const [question] = (listed.body as { data: Body[] }).data; // validated by its published schema
  const vote = { ...headers, 'if-match': `"${String(question?.['ceremony_hash'])}"` };
  await untilAnswered(async () => {
    const { status } = await published.ask(controlPlane.resolveApproval, {
      params: { ...params, approval_id: String(question?.['approval_id']) },
      body: { decision: 'approve' },
      headers: vote,
    });
    return status === 200;
  });
  const named = { receipt: receipt_id, approval: question?.['approval_id'] };
  await askProofs(published, { ...headers, 'x-workspace-id': params.id }, named);
  await askConnectors(published, { ...headers, 'x-workspace-id': params.id });
  await askRuns(published, { headers, params });
  await askPolicyDraft(published, { headers, params }, receipt_id);
  await askOrgs(published, { headers, params }, gatewayUrl);
}

type Here = { headers: Record<string, string>; params: { id: string } };

/** Takes a connector from the catalogue through its whole life. */
async function askConnectors(published: Published, headers: Record<string, string>): Promise<void> {
  const params = { connector_id: 'shelf' };
  await published.ask(controlPlane.listConnectors, { headers });
  const shown = await published.ask(controlPlane.getConnector, { headers, params });
  const { version } = shown.body as Body;
  const installed = await published.ask(controlPlane.installConnector, { headers, params, body: { version } });
  const { install_id, definitions_hash } = installed.body as Body;
  const approved = await published.ask(controlPlane.approveInstall, {
    headers,
    params: { install_id: String(install_id) },
    body: { definitions_hash, reason: 'its tools were read' },
  });
  expect(approved.body).toMatchObject({ state: 'approved' });
  await published.ask(controlPlane.listInstalls, { headers });
  const shims = { headers, params: { install_id: String(install_id) } };
  const shim = await published.ask(controlPlane.createShim, { ...shims, body: { client: 'editor' } });
  await published.ask(controlPlane.listShims, shims);
  const { shim_id } = shim.body as Body;
  await published.ask(controlPlane.revokeShim, { headers, params: { ...shims.params, shim_id: String(shim_id) } });
  await published.ask(controlPlane.disableConnector, { headers, params, body: { reason: 'for a test' } });
}

async function askRuns(published: Published, here: Here) {
  const { params } = here;
  const started = await published.ask(controlPlane.createConsoleRun, { ...here, body: { title: 'Say hello' } });
  const { run_id } = started.body as Body;
  await published.ask(controlPlane.listConsoleRuns, here);
  const ofRun = { ...here, params: { ...params, run_id: String(run_id) } };
  await untilAnswered(async () => {
    const { body } = await published.ask(controlPlane.getConsoleRun, ofRun);
    return (body as { ended_at: unknown }).ended_at !== null;
  });
  await published.ask(controlPlane.listRunReceipts, ofRun);
  await published.ask(controlPlane.createConsoleTask, { ...here, body: { title: 'Say it again' } });
  await published.ask(controlPlane.listConsoleTasks, here);
  await published.ask(controlPlane.listConsoleActions, here);
  await published.ask(controlPlane.listConsoleTools, here);
  await askOps(published, { ...here.headers, 'x-workspace-id': params.id });
}

type Evidence = { receipt: unknown; approval: unknown };

async function askProofs(published: Published, headers: Record<string, string>, named: Evidence): Promise<void> {
  await published.ask(controlPlane.getSigningKey);
  const publish = async (object_id: unknown) => {
    const { body } = await published.ask(controlPlane.createEvidenceHandle, {
      headers,
      body: { object_id, public: true },
    });
    return String((body as Body)['handle']);
  };
  const handle = await publish(named.receipt);
  await published.ask(controlPlane.getEvidenceHandle, { headers, params: { handle } });
  await published.ask(controlPlane.listEvidenceHandles, { headers });
  await published.ask(controlPlane.getPublicReceipt, { params: { receiptId: handle } });
  await published.ask(controlPlane.revokeEvidenceHandle, { headers, params: { handle } });
  await published.ask(controlPlane.checkExport, { body: { export: '{}' } });
  const made = await published.ask(controlPlane.createReplay, { headers, body: {} });
  const replay_id = String((made.body as Body)['replay_id']);
  const params = { id: String(headers['x-workspace-id']), replay_id };
  await untilAnswered(async () => {
    const { body } = await published.ask(controlPlane.getReplay, { headers, params });
    return (body as Body)['state'] === 'done';
  });
  await publish(replay_id);
  await published.ask(controlPlane.getPublicReplay, { params: { replay_id } });
  const approvalId = await publish(named.approval);
  await published.ask(controlPlane.getPublicApproval, { params: { approvalId } });
}

/** The answers have one form, whether the kernel has confirmed a stop or not. */
async function askOps(published: Published, headers: Record<string, string>): Promise<void> {
  const stop = { target: 'agent:crawler', reason: 'It was seen where it has no business' };
  await published.ask(controlPlane.throttleTarget, { headers, body: { ...stop, limit: 5 } });
  await published.ask(controlPlane.freezeTarget, { headers, body: stop });
  await published.ask(controlPlane.quarantineTarget, { headers, body: stop });
  await published.ask(controlPlane.getOps, { headers });
  await published.ask(controlPlane.listOpsTargets, { headers });
  await published.ask(controlPlane.listToolDrift, { headers });
  await askIncidents(published, headers);
  const steps = [{ ...stop, kind: 'freeze' }];
  await published.ask(controlPlane.createBlastRadius, { headers, body: { steps } });
  const planned = await published.ask(controlPlane.createPlan, { headers, body: { steps } });
  const { plan_id, plan_hash } = planned.body as Body;
  const ofPlan = { headers, params: { plan_id: String(plan_id) }, body: { plan_hash } };
  await published.ask(controlPlane.approvePlan, ofPlan);
  await published.ask(controlPlane.commitPlan, ofPlan);
  await published.ask(controlPlane.listPlans, { headers });
  const committed = await published.ask(controlPlane.getPlan, { headers, params: ofPlan.params });
  expect(committed.body).toMatchObject({ plan_id, plan_hash, state: 'committed' });
  const failed = await published.ask(controlPlane.freezeTarget, { headers, body: { ...stop, target: 'tool:.' } });
  const body = { request_id: failed.headers.get('x-request-id') ?? '' };
  // The report is stored only after the answer.
  await untilAnswered(
    async () => (await published.ask(controlPlane.createSupportReport, { headers, body })).status === 200,
  );
  await untilAnswered(async () => {
    const { target, reason } = stop;
    return (await published.ask(controlPlane.resumeTarget, { headers, body: { target, reason } })).status === 200;
  });
  await published.ask(controlPlane.resyncTarget, { headers, body: { what: 'fences', reason: 'A drill' } });
  await published.ask(controlPlane.getSnapshot, { headers });
}

async function askIncidents(published: Published, headers: Record<string, string>): Promise<void> {
  const report = { title: 'A leak', severity: 'high', category: 'conduct', note: 'It was seen', dedup_key: 'leak' };
  await published.ask(controlPlane.createIncident, { headers, body: report });
  const again = await published.ask(controlPlane.createIncident, { headers, body: report });
  await published.ask(controlPlane.listIncidents, { headers });
  const params = { incident_id: String((again.body as Body)['incident_id']) };
  const read = await published.ask(controlPlane.getIncident, { headers, params });
  const asRead = { ...headers, 'if-match': read.headers.get('etag') ?? '' };
  await published.ask(controlPlane.transitionIncident, {
    headers: asRead,
    params,
    body: { to: 'acked', note: 'Mine' },
  });
}

/** Takes a draft from its first line to its activation. */
async function askPolicyDraft(published: Published, { headers, params }: Here, receipt_id: string): Promise<void> {
  const ask = async (route: AnyRoute, more: Probe = {}) =>
    (await published.ask(route, { params, headers, ...more })).body as Body; // validated by its published schema
  const { templates } = await ask(controlPlane.getPolicyDraft);
  const twoPeople = (templates as unknown as { text: string }[])[1]?.text;
  const asRead = (tag: string) => ({ headers: { ...headers, 'if-match': `"${tag}"` } });
  await ask(controlPlane.putPolicyDraft, { body: { text: twoPeople }, ...asRead('0') });
  const kept = { receipt_id, name: 'mail', expect: { verdict: 'ESCALATE' } };
  await ask(controlPlane.createPolicyTest, { body: kept, ...asRead('1') });
  const ofLane = { params: { ...params, lane: 'two-people' } };
  await ask(controlPlane.putPolicyShadow, { body: { text: twoPeople }, ...ofLane });
  await ask(controlPlane.deletePolicyShadow, ofLane);
  const { policy_hash } = await ask(controlPlane.compilePolicyDraft);
  const { report_id } = await ask(controlPlane.createWhatIf, { body: { policy_hash } });
  const ofReport = { params: { ...params, report_id: String(report_id) } };
  await untilAnswered(async () => (await ask(controlPlane.getWhatIf, ofReport))['state'] === 'done');
  const { policy_hash: base } = await ask(controlPlane.getActivePolicy);
  const body = { policy_hash, report_id, acknowledge_widened: 0 };
  const { epoch } = await ask(controlPlane.activatePolicy, { body, ...asRead(String(base)) });
  await ask(controlPlane.listPolicyVersions);
  await ask(controlPlane.getPolicyVersion, { params: { ...params, epoch: String(epoch) } });
}

async function askOrgs(published: Published, { headers, params }: Here, gatewayUrl: string): Promise<void> {
  const workspace = { 'x-workspace-id': params.id };
  await published.ask(controlPlane.bootstrapOrg, { headers, body: { name: 'Acme' } });
  await published.ask(controlPlane.getBootstrap, { headers: { ...headers, ...workspace } });
  await published.ask(controlPlane.listConsoleWorkspaces, { headers });
  await published.ask(controlPlane.createConsoleWorkspace, { headers, body: { name: 'Team' } });
  const read = await published.ask(controlPlane.getConsoleWorkspace, { headers, params });
  const tag = { 'if-match': read.headers.get('etag') ?? '' };
  const here = { headers: { ...headers, ...tag }, params: { workspace_id: params.id } };
  await published.ask(controlPlane.putConsoleWorkspace, { ...here, body: { name: 'Operations', public_proof: 'off' } });
  const email = 'colleague@example.org';
  const invited = await published.ask(controlPlane.createConsoleMember, { ...here, body: { email } });
  const token =
    String((invited.body as Body)['invite_url'])
      .split('/')
      .at(-1) ?? '';
  const colleague = await signIn({ gatewayUrl }, email);
  await colleague.client.acceptInvite({ params: { token }, body: { email } });
  const { id } = (await colleague.client.getMe()).body.user;
  const member = { ...here, params: { ...here.params, user_id: id } };
  // A new partner needs a decision of the kernel. This probe runs while stops are in force, so it adds a member.
  await published.ask(controlPlane.putConsoleMember, { ...member, body: { role: 'member' } });
  await published.ask(controlPlane.deleteConsoleMember, member);
}
