import { createClient, isAppError } from '@countersign/contracts';
import {
  addTrustKeys,
  getTrustList,
  revokeTrustKeys,
  type SignedTrustList,
} from '@countersign/contracts/governance-kernel';
import { CommandFailed } from '../command-failed.ts';
import { adminKeyOf } from '../config.ts';
import { answered } from '../connection/connection.ts';
import type { Io } from '../io.ts';

const timeoutMs = 30_000;

/**
 * Sends a trust list to the route for added keys, or to the route for revoked keys. The kernel verifies the list, so
 * this computer needs no root key.
 */
export async function publishTrust(trust: SignedTrustList, baseUrl: string, io: Io): Promise<void> {
  const adminKey = adminKeyOf(io.env);
  const headers = () => ({ authorization: `Bearer ${adminKey}` });
  const client = createClient({ addTrustKeys, revokeTrustKeys, getTrustList }, { baseUrl, headers, timeoutMs });
  const existing = await client.getTrustList().catch((cause: unknown) => {
    if (isAppError(cause) && cause.code === 'NOT_FOUND') return null;
    throw new CommandFailed(`The server at ${baseUrl} is not a kernel. Check the address`, 2, { cause });
  });
  const ids = new Set(existing?.body.list.keys.map(({ kid }) => kid));
  const adds = trust.list.keys.some(({ kid }) => !ids.has(kid));
  const { version, key_ids: changed } = await answered({ hasToken: true }, () =>
    adds ? client.addTrustKeys({ body: { trust } }) : client.revokeTrustKeys({ body: { trust } }),
  );
  io.tell(`version ${version} is published: ${changed.join(', ')} ${adds ? 'added' : 'revoked'}\n`);
}
