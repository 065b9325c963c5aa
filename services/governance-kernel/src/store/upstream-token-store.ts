import type { Digest, TenantId } from '@countersign/contracts';
import { canonicalBytes, digestOf, parsePlainJson, type CryptoProvider } from '@countersign/crypto';
import type { ArgsCipher } from '../approvals/args-cipher.ts';
import type { Configured, RefreshTokens } from '../mcp/upstream-tokens.ts';
import { ownerOf } from '../registry/mcp-servers.ts';
import type { Transaction } from './database.ts';

type StoreParts = { transaction: Transaction; provider: CryptoProvider; cipher: ArgsCipher; clock: () => Date };

/** Longer than a request for a token may take. A replica that ends within it delays the others no longer than this. */
const leaseMs = 15_000;

/** Refresh tokens are replaced by their use (OAuth 2.1 §4.3.1), so that only the stored one is valid after a restart. */
export function upstreamTokenStore({ transaction, provider, cipher, clock }: StoreParts): RefreshTokens {
  const hashOf = ({ oauth }: Configured) => digestOf(provider, canonicalBytes(parsePlainJson(oauth))) as Digest; // it writes this form
  const placeOf = (configured: Configured) => ({
    tenant: ownerOf(configured.key) as TenantId, // of the installation: empty
    id: `refresh-token:${configured.key}`,
    argsHash: hashOf(configured),
  });
  return {
    claim: (configured) =>
      transaction(async (tx) => {
        const { key } = configured;
        const [hash, now] = [hashOf(configured), clock()];
        const fresh = { credentials_hash: hash, sealed_token: null, leased_until: null, updated_at: now };
        await tx.mcpUpstreamToken.createMany({ data: [{ server_id: key, ...fresh }], skipDuplicates: true });
        // Other credentials end the token that the earlier ones led to, and the lease of it.
        await tx.mcpUpstreamToken.updateMany({
          where: { server_id: key, credentials_hash: { not: hash } },
          data: fresh,
        });
        const isFree = { OR: [{ leased_until: null }, { leased_until: { lte: now } }] };
        const leased = await tx.mcpUpstreamToken.updateMany({
          where: { server_id: key, ...isFree },
          data: { leased_until: new Date(now.getTime() + leaseMs) },
        });
        if (leased.count === 0) return null;
        const row = await tx.mcpUpstreamToken.findUniqueOrThrow({ where: { server_id: key } });
        const stored = row.sealed_token === null ? null : cipher.decrypt(placeOf(configured), row.sealed_token);
        const token = stored?.['refresh_token'];
        return { token: typeof token === 'string' ? token : configured.oauth.refresh_token };
      }),
    release: (configured, next) =>
      transaction(async (tx) => {
        const sealed =
          next === null ? {} : { sealed_token: cipher.encrypt(placeOf(configured), { refresh_token: next }) };
        await tx.mcpUpstreamToken.updateMany({
          where: { server_id: configured.key, credentials_hash: hashOf(configured) },
          data: { leased_until: null, updated_at: clock(), ...sealed },
        });
      }),
  };
}
