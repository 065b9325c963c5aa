import { CommandFailed } from '../command-failed.ts';
import type { Config } from '../config.ts';
import { renewLogin } from './device-login.ts';
import { holdingLogin, readLogin, writeLogin, type Login } from './login-file.ts';

type Credential = { url: string; workspaceId: string | null; bearer(): Promise<string> };

export const urlDefault = 'http://localhost:3100';
/** A token is renewed this early, so that it does not expire during a request. */
const renewMsBefore = 30_000;

/** The credential for the gateway. Throws CommandFailed when there is none. */
export async function credentialOf({ url, token, workspaceId, dir }: Config): Promise<Credential> {
  if (token !== null) return { url: url ?? urlDefault, workspaceId, bearer: () => Promise.resolve(token) };
  const login = await readLogin(dir);
  if (login === null)
    throw new CommandFailed('You are not signed in. Run countersign login, or set COUNTERSIGN_TOKEN to an API key', 2);
  if (url !== null && url !== login.url)
    throw new CommandFailed(
      `The login is for ${login.url}, and COUNTERSIGN_URL is ${url}. Run countersign login --url ${url}`,
      2,
    );
  if (workspaceId !== null && workspaceId !== login.workspace_id)
    throw new CommandFailed(
      `The login is for ${login.workspace_id}, and COUNTERSIGN_WORKSPACE is ${workspaceId}. Run countersign login`,
      2,
    );
  return { url: login.url, workspaceId: login.workspace_id, bearer: () => liveToken(dir) };
}

async function liveToken(dir: string): Promise<string> {
  const existing = await readLogin(dir);
  if (existing !== null && isLive(existing)) return existing.access_token;
  return holdingLogin(dir, async () => {
    const login = await readLogin(dir); // another command may have renewed it
    if (login === null) throw over();
    if (isLive(login)) return login.access_token;
    const renewed = await renewLogin(login);
    await writeLogin(dir, renewed);
    return renewed.access_token;
  });
}

function isLive({ expires_at: at }: Login): boolean {
  return Date.parse(at) - Date.now() > renewMsBefore;
}

function over(): CommandFailed {
  return new CommandFailed('The login has ended. Run countersign login', 1);
}
