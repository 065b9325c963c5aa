import { createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { signCatalogue } from '@countersign/control-plane';

/** A private key that signs catalogues, as PKCS#8 PEM. */
export function newCatalogueKey(): string {
  return String(generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }));
}

/** A connector in version 1.2.0 for each name, with the address of its server. */
export function connectorsAt(servers: Readonly<Record<string, string>>): object[] {
  return Object.entries(servers).map(([id, url]) => {
    const remotes = [{ type: 'streamable-http', url }];
    const server_json = { name: `org.example/${id}`, description: id, version: '1.2.0', remotes };
    return { connector_id: id, title: id, summary: id, server_json };
  });
}

/** Signs a catalogue, and returns the variables with which a control plane reads it. */
export function writeCatalogue(
  path: string,
  connectors: object[],
  key = newCatalogueKey(),
): { GOV_CONNECTOR_CATALOGUE: string; GOV_CATALOGUE_KEYS: string } {
  const { catalogue, signature } = signCatalogue(connectors, (bytes) => sign(null, bytes, key));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, catalogue);
  writeFileSync(`${path}.sig`, signature);
  return { GOV_CONNECTOR_CATALOGUE: path, GOV_CATALOGUE_KEYS: createPublicKey(key).export({ format: 'jwk' }).x ?? '' };
}
