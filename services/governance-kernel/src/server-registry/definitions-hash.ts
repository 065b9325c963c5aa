import type { Digest } from '@countersign/contracts';
import { canonicalBytes, digestOf, type CryptoProvider } from '@countersign/crypto';

type Shown = { serverId: string; configHash: string | null; tools: readonly { name: string; hash: string }[] };

/** SHA-256 of the canonical JSON of how a server is reached and of the hash of each tool that it lists. An approval binds it. */
export function definitionsHash(provider: CryptoProvider, { serverId, configHash, tools }: Shown): Digest {
  const byName = [...tools].sort((left, right) => (left.name < right.name ? -1 : 1));
  const listed = byName.map(({ name, hash }) => ({ name, hash }));
  const bytes = canonicalBytes({ server_id: serverId, config_hash: configHash, tools: listed });
  return digestOf(provider, bytes) as Digest; // digestOf writes exactly this form
}
