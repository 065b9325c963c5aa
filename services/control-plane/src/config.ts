import {
  ConfigError,
  list,
  listenConfigOf,
  listenVariables,
  readConfig,
  readPublicKeys,
  secret,
  serviceConfigOf,
  serviceVariables,
  sound,
  url,
  type Environment,
  type ListenConfig,
  type PublicKey,
  type ServiceConfig,
} from '@countersign/service-kit';
import { RootKey } from '@countersign/contracts/governance-kernel';
import { z } from 'zod';
import type { CatalogueSource } from './connectors/catalogue.ts';
import { readConnections, type OidcConnection } from './oidc/connections.ts';

export const controlPlaneVariables = z.object({
  ...serviceVariables,
  ...listenVariables({ prefix: 'GOV_CONTROL_PLANE', title: 'control plane', port: 3200 }),
  GOV_CONSOLE_URL: url()
    .default('http://localhost:3100')
    .describe(
      'Scheme, host and port that browsers see. Anything but loopback must be https: the cookies of a session travel there.',
    ),
  GOV_GATEWAY_URL: url().describe('Where the gateway answers this service: it sends the codes and knows the people.'),
  GOV_GOVERNANCE_URL: url().describe('Where the governance kernel answers.'),
  GOV_SERVICE_API_KEY: secret().describe(
    'Key that sibling services present to each other on routes below `/internal`.',
  ),
  GOV_ASSERTION_KEYS: list().describe(
    'Ed25519 public keys (base64url) of gateways, several while they rotate. Without one, sign-in is impossible.',
  ),
  GOV_TRUSTED_PUBLIC_KEYS: list().describe(
    "Ed25519 public keys (base64url, 32 bytes) that receipts must be signed with. Without it the kernel's are pinned at the first use.",
  ),
  GOV_TRUST_ROOT: RootKey.optional()
    .meta({ type: 'Ed25519 public key, base64url' })
    .describe(
      'Your offline root key: receipts are verified by the trust list that it signed, in place of `GOV_TRUSTED_PUBLIC_KEYS`.',
    ),
  GOV_OIDC_CONNECTIONS: secret()
    .optional()
    .describe(
      'Identity providers that sign people in, as JSON: `{ connections: [{ connection_id, name, issuer, client_id, client_secret?, link_domains }] }`. ' +
        '`link_domains`: whose addresses may link an identity for the first time.',
    ),
  GOV_CONNECTOR_CATALOGUE: z
    .string()
    .min(1)
    .optional()
    .meta({ type: 'path' })
    .describe(
      'The signed catalogue of connectors; its signature is the file of the same name and `.sig`. Without it there is no connector to install.',
    ),
  GOV_CATALOGUE_KEYS: list().describe(
    'Ed25519 public keys (base64url) that the catalogue of connectors may be signed by, several while they rotate.',
  ),
  GOV_SESSION_SECRET: secret().describe(
    'Keys the tokens that pages send back, so that no other site can act for a person.',
  ),
});

export type ControlPlaneConfig = ServiceConfig &
  ListenConfig &
  Readonly<{
    /** Scheme, host and port that browsers see. */
    consoleUrl: string;
    /** Whether cookies travel over TLS alone. */
    isSecure: boolean;
    gatewayUrl: string;
    governanceUrl: string;
    serviceApiKey: string;
    /** The keys of the gateways whose assertions identify signed-in people. */
    assertionKeys: readonly PublicKey[];
    /** The keys whose receipts count; empty: those that the kernel names at the first use. */
    trustedPublicKeys: readonly string[];
    /** The root key of the trust list. `null`: keys are pinned. */
    trustRoot: string | null;
    sessionSecret: string;
    /** The catalogue of connectors. `null`: there is none. */
    catalogue: CatalogueSource | null;
    /** The identity providers for sign-in, beside codes and passkeys. */
    oidcConnections: readonly OidcConnection[];
  }>;

/** Reads the environment. Throws ConfigError that names every problem at once. */
export function controlPlaneConfigFrom(env: Environment = process.env): ControlPlaneConfig {
  const read = readConfig(controlPlaneVariables, env, { prefix: 'GOV_' });
  const shared = serviceConfigOf(read);
  const isSecure = new URL(read.GOV_CONSOLE_URL).protocol === 'https:';
  if (!isSecure && !isLoopback(read.GOV_CONSOLE_URL))
    throw new ConfigError([
      'GOV_CONSOLE_URL must be https, since an attacker on the network could take the cookies of a session',
    ]);
  return Object.freeze({
    ...shared,
    allowedHosts: [...shared.allowedHosts, read.GOV_CONTROL_PLANE_HOST],
    ...listenConfigOf('GOV_CONTROL_PLANE', read),
    consoleUrl: read.GOV_CONSOLE_URL,
    isSecure,
    gatewayUrl: read.GOV_GATEWAY_URL,
    governanceUrl: read.GOV_GOVERNANCE_URL,
    serviceApiKey: read.GOV_SERVICE_API_KEY,
    assertionKeys: sound('GOV_ASSERTION_KEYS', () => readPublicKeys(read.GOV_ASSERTION_KEYS)),
    trustedPublicKeys: trustedKeysOf(read.GOV_TRUSTED_PUBLIC_KEYS),
    trustRoot: read.GOV_TRUST_ROOT ?? null,
    sessionSecret: read.GOV_SESSION_SECRET,
    catalogue: catalogueOf(read.GOV_CONNECTOR_CATALOGUE, read.GOV_CATALOGUE_KEYS),
    oidcConnections: connectionsOf(read.GOV_OIDC_CONNECTIONS),
  });
}

function catalogueOf(path: string | undefined, texts: string[]): CatalogueSource | null {
  const keys = sound('GOV_CATALOGUE_KEYS', () => readPublicKeys(texts));
  if (path === undefined) return null;
  if (keys.length === 0) throw new ConfigError(['GOV_CONNECTOR_CATALOGUE needs GOV_CATALOGUE_KEYS to be verified by']);
  return { path, keys };
}

function connectionsOf(text: string | undefined): readonly OidcConnection[] {
  return text === undefined ? [] : sound('GOV_OIDC_CONNECTIONS', () => readConnections(text));
}

function trustedKeysOf(texts: string[]): readonly string[] {
  sound('GOV_TRUSTED_PUBLIC_KEYS', () => readPublicKeys(texts));
  return texts;
}

function isLoopback(address: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(new URL(address).hostname);
}
