import { untilAnswered } from '@countersign/testkit/until';
import { personAt, type Person } from './_signed-in.ts';

/** All credentials of a person. Each of them works. */
export type Access = { person: Person; key: string; deviceToken: string; approvalId: string; gatewayUrl: string };

type Wanted = { email: string; workspaceId: string; approver: Person };

/**
 * Creates a browser session, a session token, an API key, a device token, and an approval of a later call by the key.
 */
export async function access(
  { gatewayUrl }: { gatewayUrl: string },
  { email, workspaceId, approver }: Wanted,
): Promise<Access> {
  const person = await personAt(gatewayUrl, email);
  const headers = { 'x-workspace-id': workspaceId };
  const { key } = (await person.client.createApiKey({ body: { name: 'agent' } as never, headers })).body; // the schema adds defaults
  const deviceToken = await letIn(gatewayUrl, person, workspaceId);
  const answer = await post(new URL('/api/v1/evaluate', gatewayUrl), {
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ action: 'tool.call', tool: 'files.write_file', session_id: 'provisioned' },
      args: { path: 'x', content: 'y' },
    }),
  });
  const approvalId = (answer.body['approval'] as { approval_id: string }).approval_id;
  await untilAnswered(async () => {
    const { data } = (await approver.client.listWorkspaceApprovals({ query: {}, headers })).body;
    return data.some(({ id }) => id === approvalId);
  });
  const vote = { params: { id: approvalId }, body: { status: 'approved' as const }, headers };
  await approver.client.resolveWorkspaceApproval(vote);
  const one = { person, key, deviceToken, approvalId, gatewayUrl };
  const open = await actsOf(one);
  if (!Object.values(open).every(Boolean)) throw new Error(`Not everything is open: ${JSON.stringify(open)}`);
  return one;
}

/** Whether each credential of the person is still accepted. */
export async function actsOf({ person, key, deviceToken, gatewayUrl }: Access) {
  const lets = async (bearer: string, path: string) => {
    const { status } = await fetch(new URL(path, gatewayUrl), { headers: { authorization: `Bearer ${bearer}` } });
    return status !== 401;
  };
  return {
    browser: (await person.tab.at(gatewayUrl).send('/api/session')).status !== 401,
    session: await lets(person.token, '/api/me'),
    key: await lets(key, '/api/tasks'),
    device: await lets(deviceToken, '/api/tasks'),
  };
}

/** The token of a program that the person admits to the workspace (RFC 8628). */
async function letIn(gatewayUrl: string, { tab }: Person, workspaceId: string): Promise<string> {
  const client_id = 'countersign-cli';
  const form = (path: string, members: Record<string, string>) =>
    post(new URL(path, gatewayUrl), { body: new URLSearchParams(members) });
  const begun = await form('/api/auth/device/code', { client_id, scope: 'member' });
  const body = { decision: 'approve', workspace_id: workspaceId };
  await tab.send(`/api/auth/device/${String(begun.body['user_code'])}/decide`, { method: 'POST', body });
  const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
  const device_code = String(begun.body['device_code']);
  const { body: tokens } = await form('/api/auth/device/token', { grant_type, device_code, client_id });
  return String(tokens['access_token']);
}

async function post(url: URL, sent: RequestInit): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(url, { method: 'POST', ...sent });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }; // callers check its members
}
