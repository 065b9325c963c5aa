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
type Parts = { gateway: StartedGateway; controlPlane: StartedControlPlane; consoleUrl: string };
type SignedIn = (res: ServerResponse<IncomingMessage>) => void;

/** The person at the terminal owns the installation and proves it by reading the terminal. */
const ownerEmail = 'owner@countersign.local';

const guardForeign = createForeignGuard({ hosts: [], origins: [] });

/**
 * Serves one address, on loopback, that signs its first visitor in: a browser at the console, where it goes on; any other program by a
 * token, `{ token, user, workspace }`. Its path is a 256-bit secret; after its use, or for any other path, there is nothing here.
 */
export async function serveSignInLink(parts: Parts): Promise<SignInLink> {
  const path = `/sign-in/${randomBytes(32).toString('base64url')}`;
  let isUsed = false;
  const server = createServer((req, res) => {
    if (req.method !== 'GET' || req.url !== path || isUsed || isForeign(req))
      return answer(res, 404, {
        error: 'This link does not exist, or was used already. Each `make up` has a new one.',
      });
    isUsed = true;
    const signIn = isBrowser(req) ? signInBrowser(parts, req) : signInProgram(parts);
    void signIn.then(
      (signedIn) => signedIn(res),
      () => {
        isUsed = false;
        answer(res, 503, { error: 'Signing in failed; try the link again.' });
      },
    );
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a TCP server that listens has one
  // Uses the console's host name, since the cookies of a session belong to one name, whatever the port.
  return { url: `http://${new URL(parts.consoleUrl).hostname}:${port}${path}`, close: () => close(server) };
}

/** A request of a foreign page is refused even if it knows the path. */
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

async function signInProgram({ gateway }: Parts): Promise<SignedIn> {
  const body = await issueLocalSignIn(gateway.context, ownerEmail);
  const client = createClient({ verifyEmailCode }, { baseUrl: gateway.url });
  const session = (await client.verifyEmailCode({ body })).body;
  return (res) => answer(res, 200, session);
}

/** Hands on the cookies of a session that was opened in the browser's name. */
async function signInBrowser({ gateway, controlPlane, consoleUrl }: Parts, req: IncomingMessage): Promise<SignedIn> {
  const { code } = await issueLocalSignIn(gateway.context, ownerEmail);
  const login_id = await beginLocalLogin(controlPlane.context, ownerEmail);
  const told = await fetch(new URL(finishLogin.path, gateway.url), {
    method: finishLogin.method,
    headers: { 'content-type': 'application/json', 'user-agent': req.headers['user-agent'] ?? '' },
    body: JSON.stringify({ login_id, code }),
  });
  if (!told.ok) throw new Error(`The control plane answered ${told.status}`);
  const headers = {
    location: `${consoleUrl}/console/overview`,
    'set-cookie': told.headers.getSetCookie(),
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
