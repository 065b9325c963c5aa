import type { AnyRoute } from '@countersign/contracts';
import * as controlPlane from '@countersign/contracts/control-plane';
import * as gateway from '@countersign/contracts/gateway';
import { Authenticator } from '@countersign/testkit/authenticator';
import type { Body } from './_ask.ts';
import { publishedService, type Probe, type Published } from './_published.ts';

const sockets = [
  ['console', controlPlane.openConsoleSocket],
  ['telemetry', controlPlane.openTelemetrySocket],
] as const;

type Headed = { headers: Record<string, string> };
type Site = { gatewayUrl: string; consoleUrl: string; direct: Published; sibling: Headed };

/** Acts as a signed-in person at a browser: proves presence again, admits a program, and removes it. */
export async function askSignedIn(
  browser: Published,
  { headers }: Headed,
  { gatewayUrl, consoleUrl, direct, sibling }: Site,
): Promise<void> {
  const reportOf = async (published: Published, route: AnyRoute, probe: Probe) =>
    (await published.ask(route, probe)).body as Body; // validated by its published schema
  const ask = (route: AnyRoute, probe: Probe = {}) => reportOf(browser, route, { headers, ...probe });
  const { login_id, code } = await ask(controlPlane.beginReauth, { body: {} });
  await ask(controlPlane.finishReauth, { body: { login_id, code } });
  const client_id = 'parity';
  const begun = await reportOf(browser, controlPlane.beginDeviceLogin, { body: { client_id } });
  const { device_code, user_code = '' } = begun;
  const poll = { body: { grant_type: controlPlane.deviceCodeGrant, device_code, client_id } };
  await browser.ask(controlPlane.createDeviceToken, poll);
  await ask(controlPlane.getDeviceLogin, { params: { user_code } });
  const { workspaces } = await reportOf(publishedService('gateway', gatewayUrl), gateway.getMe, { headers });
  const workspace_id = (workspaces as unknown as Body[])[0]?.['id'];
  await ask(controlPlane.answerDeviceLogin, { params: { user_code }, body: { decision: 'approve', workspace_id } });
  await browser.ask(controlPlane.createDeviceToken, poll);
  const { devices } = await ask(controlPlane.getSession);
  const credential_id = String((devices as unknown as Body[])[0]?.['session_id']);
  await direct.ask(controlPlane.listLiveSessions, { body: { session_ids: [credential_id] }, ...sibling });
  await direct.ask(controlPlane.listOrgs, sibling);
  await direct.ask(controlPlane.listOrgWorkspaces, sibling);
  await direct.ask(controlPlane.getOrgUse, { params: { org_id: `org_${'0'.repeat(26)}` }, ...sibling });
  await direct.ask(controlPlane.readScopedAuditChain, { params: { workspace_id: String(workspace_id) }, ...sibling });
  await ask(controlPlane.endCredential, { params: { credential_id } });
  const inWorkspace = { headers: { ...headers, 'x-workspace-id': String(workspace_id) } };
  for (const [kind, route] of sockets) {
    const { ticket } = await ask(controlPlane.createSessionTicket, inWorkspace);
    const request = { 'sec-websocket-protocol': `${controlPlane.socketProtocols[kind]}, ticket.${String(ticket)}` };
    await browser.ask(route, { headers: { ...headers, ...request } });
  }
  const { challenge = '' } = await ask(controlPlane.beginPasskey, inWorkspace);
  const attestation = new Authenticator(consoleUrl).create(challenge);
  await ask(controlPlane.finishPasskey, { ...inWorkspace, body: { attestation } });
}
