import { sha256Of, type Digest } from '@countersign/contracts';
import { canonicalBytes, type CryptoProvider } from '@countersign/crypto';

type Shown = { serverId: string; configHash: string | null; tools: readonly { name: string; hash: string }[] };

/**
 * SHA-256 of the canonical JSON of a server's id, the hash of its configuration, and the name and hash of each listed
 * tool. An approval covers this hash.
 */
export function definitionsHash(provider: CryptoProvider, { serverId, configHash, tools }: Shown): Digest {
  const byName = [...tools].sort((left, right) => (left.name < right.name ? -1 : 1));
  const listed = byName.map(({ name, hash }) => ({ name, hash }));
  const bytes = canonicalBytes({ server_id: serverId, config_hash: configHash, tools: listed });
  return sha256Of(provider, bytes);
}
