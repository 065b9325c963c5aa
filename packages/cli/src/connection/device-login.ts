import { hostname } from 'node:os';
import * as oauth from 'openid-client';
import { Instant } from '@countersign/contracts';
import { beginDeviceLogin, createDeviceToken, DeviceTokens } from '@countersign/contracts/control-plane';
import { CommandFailed } from '../command-failed.ts';
import type { Login } from './login-file.ts';

/** The name that the confirmation page shows. */
const clientId = `countersign CLI on ${hostname().replaceAll(/[^A-Za-z0-9._-]/g, '-')}`.slice(0, 100);

type Wanted = { url: string; role: Login['role']; workspaceId: string | null };
type Show = (at: { address: string; code: string }) => void;

/**
 * Signs in with a browser, which may be on another device (RFC 8628). Throws CommandFailed when the login is refused or
 * not confirmed in time.
 */
export async function loginByDevice(
  { url, role, workspaceId }: Wanted,
  show: Show,
  signal: AbortSignal,
): Promise<Login> {
  const server = serverAt(url);
  const place: Record<string, string> = workspaceId === null ? {} : { workspace_id: workspaceId };
  const begun = await translatingErrors(() => oauth.initiateDeviceAuthorization(server, { scope: role, ...place }));
  show({ address: begun.verification_uri_complete ?? begun.verification_uri, code: begun.user_code });
  const tokens = await translatingErrors(() =>
    oauth.pollDeviceAuthorizationGrant(server, begun, undefined, { signal }),
  );
  return loginOf(url, tokens);
}

/** Renews the tokens. Throws CommandFailed when the login has ended. */
export async function renewLogin({ url, refresh_token }: Login): Promise<Login> {
  return loginOf(url, await translatingErrors(() => oauth.refreshTokenGrant(serverAt(url), refresh_token)));
}

function serverAt(url: string): oauth.Configuration {
  const metadata = {
    issuer: url,
    device_authorization_endpoint: new URL(beginDeviceLogin.path, url).href,
    token_endpoint: new URL(createDeviceToken.path, url).href,
  };
  const server = new oauth.Configuration(metadata, clientId, undefined, oauth.None());
  if (isLoopback(url)) oauth.allowInsecureRequests(server);
  return server;
}

/** On the loopback interface, a token needs no TLS, because it never leaves this computer. */
function isLoopback(url: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(new URL(url).hostname);
}

async function translatingErrors<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (cause) {
    if (cause instanceof oauth.ResponseBodyError)
      throw new CommandFailed(`${cause.error_description ?? 'It was refused'} (${cause.error})`, 1, { cause });
    const words = cause instanceof Error ? cause.message : String(cause);
    throw new CommandFailed(`The login failed: ${words}`, 2, { cause });
  }
}

function loginOf(url: string, answer: unknown): Login {
  const tokens = DeviceTokens.loose().safeParse({ ...(answer as object), token_type: 'Bearer' });
  if (!tokens.success) throw new CommandFailed(`${url} returned no login`, 2, { cause: tokens.error });
  const { access_token, refresh_token, expires_in, scope: role, workspace_id } = tokens.data;
  const expires_at = Instant.parse(new Date(Date.now() + expires_in * 1_000).toISOString());
  return { url, workspace_id, role, access_token, refresh_token, expires_at };
}
