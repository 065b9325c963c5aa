import { sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shippedConnectors, signCatalogue } from '@countersign/control-plane';
import { newSigningKey, publicKeyOf } from './data-dir.ts';

/** The file of a signed catalogue, and its verification key in base64url. */
export type WrittenCatalogue = { path: string; publicKey: string };

/**
 * Signs the shipped connectors with a new key at each start. The key is not stored, so a changed file cannot be signed
 * again.
 */
export function ownCatalogue(dataDir: string): WrittenCatalogue {
  return writeCatalogue(join(dataDir, 'connectors.json'), shippedConnectors(), newSigningKey());
}

/** Writes a catalogue, with its signature beside it. Throws for connectors that a catalogue cannot contain. */
export function writeCatalogue(path: string, connectors: unknown, privateKey: string): WrittenCatalogue {
  const { catalogue, signature } = signCatalogue(connectors, (bytes) => sign(null, bytes, privateKey));
  writeFileSync(path, catalogue);
  writeFileSync(`${path}.sig`, `${signature}\n`);
  return { path, publicKey: publicKeyOf(privateKey) };
}
