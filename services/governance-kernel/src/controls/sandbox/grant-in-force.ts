import type { Digest, SandboxGrantId } from '@countersign/contracts';
import { SandboxRequest, SandboxTerms } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider } from '@countersign/crypto';
import type { McpServerRow } from '../../registry/mcp-servers.ts';
import { defaultTerms, grantHash } from './grant-hash.ts';
import { overgrants } from './overgrants.ts';
import type { SandboxGrantRow } from './sandbox-grants.ts';

export type GrantInForce = {
  source: 'grant' | 'default' | 'configuration';
  id: SandboxGrantId | null;
  hash: Digest;
  /** Whether the grant allows nothing: it expired, its server was reconfigured, or its terms were tampered with. */
  hasExpired: boolean;
  terms: SandboxTerms;
  expiresAtMs: number | null;
  /** Accesses that the configuration of the server needs beyond the terms. */
  overgrants: readonly string[];
};

type Input = {
  /** All grants of the tenant. */
  rows: readonly SandboxGrantRow[];
  /** The server over stdio that has the tool. `null` when there is none. */
  server: Pick<McpServerRow, 'name' | 'tenant' | 'config' | 'configHash'> | null;
  tool: string | null;
  nowMs: number;
};

/**
 * The grant that applies to a server, or to a tool that no server over stdio has. An expired grant allows nothing,
 * since the default terms might allow more than it did. A grant for another configuration allows nothing either.
 * Otherwise, an owner could run any command under a grant for one command. `null` when there is no grant.
 */
export function grantInForce(provider: CryptoProvider, { rows, server, tool, nowMs }: Input): GrantInForce | null {
  if (server === null) {
    const row = rows.find(({ subject }) => subject === `tool:${tool}`);
    return row === undefined ? null : ofRow(provider, row, { nowMs, request: null, configHash: null });
  }
  const configured = Configured.parse(server.config);
  const request = SandboxRequest.parse({ env: configured.env });
  if (server.tenant === null)
    return configured.sandbox === undefined
      ? null
      : knownGrant(provider, { source: 'configuration', terms: configured.sandbox, request });
  const row = rows.find(({ subject }) => subject === `server:${server.name}`);
  if (row !== undefined) return ofRow(provider, row, { nowMs, request, configHash: server.configHash });
  return knownGrant(provider, { source: 'default', terms: defaultTerms(configured.env), request });
}

/** The registry's copy of the configuration of a server over stdio. */
const Configured = SandboxTerms.pick({ env: true }).loose().extend({ sandbox: SandboxTerms.optional() });

type OfRow = { nowMs: number; request: SandboxRequest | null; configHash: Digest | null };

function ofRow(provider: CryptoProvider, row: SandboxGrantRow, { nowMs, request, configHash }: OfRow): GrantInForce {
  const { id, terms, expiresAtMs } = row;
  // Terms that were changed outside the kernel do not match the sealed hash.
  const isSealed = grantHash(provider, terms) === row.grantHash;
  return {
    ...{ source: 'grant', id, terms, expiresAtMs, hash: row.grantHash },
    hasExpired: nowMs >= expiresAtMs || !isSealed || row.configHash !== configHash,
    overgrants: request === null ? [] : overgrants(terms, request),
  };
}

type KnownTerms = { source: 'default' | 'configuration'; terms: SandboxTerms; request: SandboxRequest };

function knownGrant(provider: CryptoProvider, { source, terms, request }: KnownTerms): GrantInForce {
  const hash = grantHash(provider, terms);
  return {
    source,
    id: null,
    hash,
    hasExpired: false,
    terms,
    expiresAtMs: null,
    overgrants: overgrants(terms, request),
  };
}
