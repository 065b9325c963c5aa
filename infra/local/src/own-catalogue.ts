import { sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shippedConnectors, signCatalogue } from '@countersign/control-plane';
import { newSigningKey, publicKeyOf } from './data-dir.ts';

/** The file of a signed catalogue, and the key that verifies it, base64url. */
export type WrittenCatalogue = { path: string; publicKey: string };

/**
 * Signs the connectors that ship with a key of this start, which is not kept: who changes the file afterwards cannot
 * sign it.
 */
export function ownCatalogue(dataDir: string): WrittenCatalogue {
  return writeCatalogue(join(dataDir, 'connectors.json'), shippedConnectors(), newSigningKey());
}

/** Writes a catalogue and beside it its signature. Throws for connectors that no catalogue can have. */
export function writeCatalogue(path: string, connectors: unknown, privateKey: string): WrittenCatalogue {
  const { catalogue, signature } = signCatalogue(connectors, (bytes) => sign(null, bytes, privateKey));
  writeFileSync(path, catalogue);
  writeFileSync(`${path}.sig`, `${signature}\n`);
  return { path, publicKey: publicKeyOf(privateKey) };
}
