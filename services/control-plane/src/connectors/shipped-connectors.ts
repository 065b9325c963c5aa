import { readFileSync } from 'node:fs';

/** The connectors that ship with this service, unsigned. The signer vouches for them. */
export function shippedConnectors(): unknown {
  return JSON.parse(readFileSync(new URL('../../catalogue/connectors.json', import.meta.url), 'utf8'));
}
