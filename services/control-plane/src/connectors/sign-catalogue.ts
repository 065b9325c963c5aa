import { canonicalBytes, encodeBase64Url, parsePlainJson } from '@countersign/crypto';
import { z } from 'zod';
import { catalogueFormat, remoteOf, serverJsonHashOf, signedBytes, UnsignedConnector } from './catalogue.ts';

/** Signs exactly these bytes with Ed25519. The caller holds the key, and this service has none. */
type SignBytes = (bytes: Uint8Array) => Uint8Array;

/** The file of a catalogue and its detached signature in base64url. Throws for invalid entries. */
export function signCatalogue(connectors: unknown, sign: SignBytes): { catalogue: Uint8Array; signature: string } {
  const entries = z.array(UnsignedConnector).parse(connectors);
  for (const { connector_id, server_json } of entries) remoteOf(connector_id, server_json);
  const pinned = entries.map((entry) => ({ ...entry, server_json_hash: serverJsonHashOf(entry.server_json) }));
  const catalogue = canonicalBytes(parsePlainJson({ format: catalogueFormat, connectors: pinned }));
  return { catalogue, signature: encodeBase64Url(sign(signedBytes(catalogue))) };
}
