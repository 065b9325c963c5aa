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
      'Scheme, host and port that browsers use. It must be https, except on loopback, because browsers send session cookies to it.',
    ),
  GOV_GATEWAY_URL: url().describe(
    'Address of the gateway for this service. The gateway sends sign-in codes and keeps the accounts of people.',
  ),
  GOV_GOVERNANCE_URL: url().describe('Address of the governance kernel for this service.'),
  GOV_SERVICE_API_KEY: secret().describe(
    'Key that sibling services present to each other on routes below `/internal`.',
  ),
  GOV_ASSERTION_KEYS: list().describe(
    'Ed25519 public keys (base64url) of gateways; several are allowed during a rotation. Without one, sign-in is impossible.',
  ),
  GOV_TRUSTED_PUBLIC_KEYS: list().describe(
    "Ed25519 public keys (base64url, 32 bytes) of the kernels whose receipts are trusted. Without it, the kernel's keys are pinned at the first use.",
  ),
  GOV_TRUST_ROOT: RootKey.optional()
    .meta({ type: 'Ed25519 public key, base64url' })
    .describe(
      'Your offline root key (public half). Receipts are verified with the trust list that it signed, instead of `GOV_TRUSTED_PUBLIC_KEYS`.',
    ),
  GOV_OIDC_CONNECTIONS: secret()
    .optional()
    .describe(
      'Identity providers for sign-in, as JSON: `{ connections: [{ connection_id, name, issuer, client_id, client_secret?, link_domains }] }`. ' +
        '`link_domains` lists the mail domains whose addresses can link an identity for the first time.',
    ),
  GOV_CONNECTOR_CATALOGUE: z
    .string()
    .min(1)
    .optional()
    .meta({ type: 'path' })
    .describe(
      'Signed catalogue of connectors. Its signature is in the file of the same name with `.sig` at the end. Without it, no connector can be installed.',
    ),
  GOV_CATALOGUE_KEYS: list().describe(
    'Ed25519 public keys (base64url) that may sign the catalogue of connectors; several are allowed during a rotation.',
  ),
  GOV_SESSION_SECRET: secret().describe(
    'Key of the tokens that pages send back. They prevent other sites from acting for a person.',
  ),
});

export type ControlPlaneConfig = ServiceConfig &
  ListenConfig &
  Readonly<{
    /** Scheme, host and port that browsers see. */
    consoleUrl: string;
    /** Whether cookies require TLS. */
    isSecure: boolean;
    gatewayUrl: string;
    governanceUrl: string;
    serviceApiKey: string;
    /** The keys of the gateways whose assertions identify signed-in people and API keys. */
    assertionKeys: readonly PublicKey[];
    /**
     * The keys whose receipts are trusted when `trustRoot` is `null`. When empty, the keys that the kernel publishes at
     * first use are pinned.
     */
    trustedPublicKeys: readonly string[];
    /** The root key of the trust list. `null` when keys are pinned. */
    trustRoot: string | null;
    sessionSecret: string;
    /** The catalogue of connectors. `null` when there is none. */
    catalogue: CatalogueSource | null;
    /** The identity providers for sign-in, in addition to codes and passkeys. */
    oidcConnections: readonly OidcConnection[];
  }>;

/**
 * Reads the environment. Throws ConfigError. One error names all malformed variables. The checks that follow throw at
 * the first problem.
 */
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
  if (keys.length === 0)
    throw new ConfigError(['GOV_CONNECTOR_CATALOGUE is set, so GOV_CATALOGUE_KEYS must be set too, to verify it']);
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
