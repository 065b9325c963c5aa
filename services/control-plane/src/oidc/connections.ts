import { OidcConnectionId } from '@countersign/contracts/control-plane';
import { parseStrictJson } from '@countersign/crypto';
import { z } from 'zod';

/** An identity provider for sign-in. */
export type OidcConnection = {
  readonly connectionId: string;
  /** The displayed name. */
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  /** `null` for a public client, which only PKCE protects. */
  readonly clientSecret: string | null;
  /** The mail domains whose addresses can link an identity for the first time. */
  readonly linkDomains: readonly string[];
};

/** The configured connections. Connections of organisations would implement the same two methods. */
export type OidcConnections = {
  find(connectionId: string): OidcConnection | null;
  list(): readonly OidcConnection[];
};

export function configuredConnections(connections: readonly OidcConnection[]): OidcConnections {
  const byId = new Map(connections.map((connection) => [connection.connectionId, connection]));
  return { find: (id) => byId.get(id) ?? null, list: () => connections };
}

const limits = { depthMax: 8, bytesMax: 262_144, valuesMax: 10_000 };
/** More than a sign-in page can show. */
const connectionsMax = 20;

const Domain = z
  .string()
  .max(253)
  .regex(/^[a-z0-9-]+(\.[a-z0-9-]+)*$/, 'must be a domain in lower case');

const Connection = z.strictObject({
  connection_id: OidcConnectionId,
  name: z
    .string()
    .min(1)
    .max(60)
    .regex(/^[^\p{C}\p{Zl}\p{Zp}]*$/u, 'must not contain control or format characters'),
  issuer: z.string().refine(isTrustworthy, 'must be an https address, or http on loopback'),
  client_id: z.string().min(1).max(1_024),
  client_secret: z.string().min(1).max(1_024).optional(),
  link_domains: z.array(Domain).min(1).max(100),
});

const Document = z
  .strictObject({ connections: z.array(Connection).max(connectionsMax) })
  .refine(
    ({ connections }) => new Set(connections.map(({ connection_id }) => connection_id)).size === connections.length,
    'two connections have the same connection_id',
  );

/** Parses GOV_OIDC_CONNECTIONS. Throws an error that names each invalid member, and no value. */
export function readConnections(text: string): OidcConnection[] {
  const parsed = Document.safeParse(parseStrictJson(Buffer.from(text), limits));
  if (!parsed.success)
    throw new Error(
      parsed.error.issues.map(({ path, message }) => `${path.map(String).join('.')} ${message}`).join('; '),
    );
  return parsed.data.connections.map(({ connection_id, name, issuer, client_id, client_secret, link_domains }) => ({
    ...{ connectionId: connection_id, name, issuer },
    ...{ clientId: client_id, clientSecret: client_secret ?? null, linkDomains: link_domains },
  }));
}

/** Whether traffic to this address is protected on the network. */
export function isTrustworthy(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  const isLoopback = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback);
}
