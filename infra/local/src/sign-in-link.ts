import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from '@countersign/contracts';
import { verifyEmailCode } from '@countersign/contracts/gateway';
import { issueLocalSignIn, type StartedGateway } from '@countersign/gateway';

type SignInLink = { url: string; close(): Promise<void> };

/** The person at the terminal owns the installation and proves it by reading the terminal. */
const ownerEmail = 'owner@countersign.local';

/**
 * Serves one address, on loopback, that signs its first visitor in and answers `{ token, user, workspace }`. Its path is a 256-bit
 * secret; after its use, or for any other path, there is nothing here.
 */
export async function serveSignInLink(gateway: StartedGateway): Promise<SignInLink> {
  const path = `/sign-in/${randomBytes(32).toString('base64url')}`;
  let isUsed = false;
  const server = createServer((req, res) => {
    if (req.method !== 'GET' || req.url !== path || isUsed)
      return answer(res, 404, {
        error: 'This link does not exist, or was used already. Each `make up` has a new one.',
      });
    isUsed = true;
    void signIn(gateway).then(
      (session) => answer(res, 200, session),
      () => {
        isUsed = false;
        answer(res, 503, { error: 'Signing in failed; try the link again.' });
      },
    );
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a TCP server that listens has one
  return { url: `http://127.0.0.1:${port}${path}`, close: () => close(server) };
}

async function signIn(gateway: StartedGateway): Promise<unknown> {
  const body = await issueLocalSignIn(gateway.context, ownerEmail);
  const client = createClient({ verifyEmailCode }, { baseUrl: gateway.url });
  return (await client.verifyEmailCode({ body })).body;
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
