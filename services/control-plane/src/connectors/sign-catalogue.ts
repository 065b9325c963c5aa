import { canonicalBytes, encodeBase64Url, parsePlainJson } from '@countersign/crypto';
import { createSigner } from '@countersign/crypto/signing';
import { z } from 'zod';
import { catalogueFormat, remoteOf, serverJsonHashOf, signedBytes, UnsignedConnector } from './catalogue.ts';

type SignedFiles = { catalogue: Uint8Array; signature: string; publicKey: string };

/**
 * The file of a catalogue, its detached signature and the key that verifies it, both base64url. `privateKey`: Ed25519,
 * PKCS#8 PEM. Throws for entries that no catalogue can have.
 */
export function signCatalogue(connectors: unknown, privateKey: string): SignedFiles {
  const entries = z.array(UnsignedConnector).parse(connectors);
  for (const { connector_id, server_json } of entries) remoteOf(connector_id, server_json);
  const pinned = entries.map((entry) => ({ ...entry, server_json_hash: serverJsonHashOf(entry.server_json) }));
  const catalogue = canonicalBytes(parsePlainJson({ format: catalogueFormat, connectors: pinned }));
  const signer = createSigner(privateKey);
  const signature = encodeBase64Url(signer.sign(signedBytes(catalogue)));
  return { catalogue, signature, publicKey: encodeBase64Url(signer.publicKey) };
}
