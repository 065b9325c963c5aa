import { sha256Of, type TenantId } from '@countersign/contracts';
import { canonicalBytes, parsePlainJson, type CryptoProvider } from '@countersign/crypto';
import type { ArgsCipher } from '../controls/approvals/args-cipher.ts';
import type { Configured, RefreshTokens } from '../doors/mcp/upstream-tokens.ts';
import { ownerOf } from '../registry/mcp-servers.ts';
import type { Transaction } from './database.ts';

type StoreDeps = { transaction: Transaction; provider: CryptoProvider; cipher: ArgsCipher; clock: () => Date };

/** The lease of a token, longer than any token request. If its holder fails, other replicas wait at most this long. */
const leaseMs = 15_000;

/** A use may replace the refresh token (OAuth 2.1 §4.3.1), so only the stored one is sure to be valid afterwards. */
export function upstreamTokenStore({ transaction, provider, cipher, clock }: StoreDeps): RefreshTokens {
  // digestOf writes exactly this form
  const hashOf = ({ oauth }: Configured) => sha256Of(provider, canonicalBytes(parsePlainJson(oauth)));
  const placeOf = (configured: Configured) => ({
    tenant: ownerOf(configured.key) as TenantId, // empty for the installation
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
        // If the credentials have changed, the stored token and its lease are removed.
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
