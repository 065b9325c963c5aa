import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from '@countersign/contracts';
import { finishLogin } from '@countersign/contracts/control-plane';
import { verifyEmailCode } from '@countersign/contracts/gateway';
import { beginLocalLogin, type StartedControlPlane } from '@countersign/control-plane';
import { issueLocalSignIn, type StartedGateway } from '@countersign/gateway';
import { createForeignGuard } from '@countersign/service-kit';

type SignInLink = { url: string; close(): Promise<void> };
type Deps = { gateway: StartedGateway; controlPlane: StartedControlPlane; consoleUrl: string };
type SignedIn = (res: ServerResponse<IncomingMessage>) => void;

/** The user of the terminal owns the installation. Reading the link from the terminal proves it. */
const ownerEmail = 'owner@countersign.local';

const guardForeign = createForeignGuard({ hosts: [], origins: [] });

/**
 * Serves one address on loopback that signs in its first visitor. A browser is redirected to the console. Other
 * programs get `{ token, user, workspace }`. The path is a 256-bit secret. The status is 404 after its use, for other
 * paths and methods, and for foreign pages. A failed sign-in gets 503, and the address can be used again.
 */
export async function serveSignInLink(deps: Deps): Promise<SignInLink> {
  const path = `/sign-in/${randomBytes(32).toString('base64url')}`;
  let isUsed = false;
  const server = createServer((req, res) => {
    if (req.method !== 'GET' || req.url !== path || isUsed || isForeign(req))
      return answer(res, 404, {
        error: 'This link does not exist, or was already used. Each `make up` prints a new link.',
      });
    isUsed = true;
    const signIn = isBrowser(req) ? signInBrowser(deps, req) : signInProgram(deps);
    void signIn.then(
      (signedIn) => signedIn(res),
      () => {
        isUsed = false;
        answer(res, 503, { error: 'Signing in failed; try the link again.' });
      },
    );
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a listening TCP server has an address
  // The host name is that of the console, because the cookies of a session belong to one host name on all ports.
  return { url: `http://${new URL(deps.consoleUrl).hostname}:${port}${path}`, close: () => close(server) };
}

/** A request from a foreign page is refused even if it has the path. */
function isForeign(req: IncomingMessage): boolean {
  try {
    guardForeign(req);
    return false;
  } catch {
    return true;
  }
}

function isBrowser({ headers }: IncomingMessage): boolean {
  return headers.accept?.includes('text/html') === true;
}

async function signInProgram({ gateway }: Deps): Promise<SignedIn> {
  const body = await issueLocalSignIn(gateway.context, ownerEmail);
  const client = createClient({ verifyEmailCode }, { baseUrl: gateway.url });
  const session = (await client.verifyEmailCode({ body })).body;
  return (res) => answer(res, 200, session);
}

/** Forwards the cookies of a session that was opened for the browser. */
async function signInBrowser({ gateway, controlPlane, consoleUrl }: Deps, req: IncomingMessage): Promise<SignedIn> {
  const { code } = await issueLocalSignIn(gateway.context, ownerEmail);
  const login_id = await beginLocalLogin(controlPlane.context, ownerEmail);
  const result = await fetch(new URL(finishLogin.path, gateway.url), {
    method: finishLogin.method,
    headers: { 'content-type': 'application/json', 'user-agent': req.headers['user-agent'] ?? '' },
    body: JSON.stringify({ login_id, code }),
  });
  if (!result.ok) throw new Error(`The control plane answered ${result.status}`);
  const headers = {
    location: `${consoleUrl}/console/overview`,
    'set-cookie': result.headers.getSetCookie(),
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  };
  return (res) => void res.writeHead(303, headers).end();
}

function answer(res: ServerResponse<IncomingMessage>, status: number, body: unknown): void {
  res.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  res.end(`${JSON.stringify(body, null, 2)}\n`);
}

function close(server: ReturnType<typeof createServer>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
