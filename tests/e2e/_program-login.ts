import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import type { Tab } from './_tab.ts';

type ProgramLogin = {
  gatewayUrl: string;
  tab: Tab;
  workspaceId: string;
  role: 'member' | 'partner' | 'owner';
  /** The folder of the command's configuration. */
  dir: string;
};

/** Writes the file that `countersign login` writes, without the pause of the command between two polls. */
export async function leaveLogin({ gatewayUrl, tab, workspaceId, role, dir }: ProgramLogin): Promise<void> {
  const form = async (path: string, members: Record<string, string>) => {
    const body = new URLSearchParams({ client_id: 'countersign', ...members });
    const answer = await fetch(new URL(path, gatewayUrl), { method: 'POST', body });
    return (await answer.json()) as Record<string, string>; // RFC 8628, 3.2 and 3.5
  };
  const { device_code = '', user_code = '' } = await form('/api/auth/device/code', { scope: role });
  await confirmProgram({ tab, workspaceId }, user_code);
  const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
  const { workspace_id, access_token, refresh_token } = await form('/api/auth/device/token', {
    grant_type,
    device_code,
  });
  const login = { url: gatewayUrl, role, workspace_id, access_token, refresh_token };
  const expires_at = new Date(Date.now() + 600_000).toISOString(); // the command renews a session that expires soon
  writeFileSync(join(dir, 'login.json'), JSON.stringify({ ...login, expires_at }), { mode: 0o600 });
}

/** Confirms the code of a program at a browser. */
export async function confirmProgram(
  { tab, workspaceId }: Pick<ProgramLogin, 'tab' | 'workspaceId'>,
  code: string,
): Promise<void> {
  const body = { decision: 'approve', workspace_id: workspaceId };
  expect((await tab.send(`/api/auth/device/${code}/decide`, { method: 'POST', body })).status).toBe(200);
}
