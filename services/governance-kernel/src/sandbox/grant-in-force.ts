import type { Digest, SandboxGrantId } from '@countersign/contracts';
import { SandboxRequest, SandboxTerms } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider } from '@countersign/crypto';
import type { McpServerRow } from '../registry/mcp-servers.ts';
import { defaultTerms, grantHash } from './grant-hash.ts';
import { overgrants } from './overgrants.ts';
import type { SandboxGrantRow } from './sandbox-grants.ts';

export type GrantInForce = {
  source: 'grant' | 'default' | 'configuration';
  id: SandboxGrantId | null;
  hash: Digest;
  /** It holds no more. */
  hasExpired: boolean;
  terms: SandboxTerms;
  expiresAtMs: number | null;
  /** The accesses that the configuration of the server needs beyond the terms. */
  overgrants: readonly string[];
};

type Asked = {
  /** All grants of the tenant. */
  rows: readonly SandboxGrantRow[];
  /** The server over stdio of the tool. `null` when no such server has it. */
  server: Pick<McpServerRow, 'name' | 'tenant' | 'config'> | null;
  tool: string | null;
  nowMs: number;
};

/**
 * The grant that holds for a server, or for a tool that no server over stdio has. An expired grant stays in force as one that allows nothing: what
 * was narrowed must not widen by itself. `null`: nothing was granted.
 */
export function grantInForce(provider: CryptoProvider, { rows, server, tool, nowMs }: Asked): GrantInForce | null {
  if (server === null) {
    const row = rows.find(({ subject }) => subject === `tool:${tool}`);
    return row === undefined ? null : ofRow(provider, row, { nowMs, request: null });
  }
  const configured = Configured.parse(server.config);
  const request = SandboxRequest.parse({ env: configured.env });
  if (server.tenant === null)
    return configured.sandbox === undefined
      ? null
      : known(provider, { source: 'configuration', terms: configured.sandbox, request });
  const row = rows.find(({ subject }) => subject === `server:${server.name}`);
  if (row !== undefined) return ofRow(provider, row, { nowMs, request });
  return known(provider, { source: 'default', terms: defaultTerms(configured.env), request });
}

/** The registry's copy of the configuration of a server over stdio. */
const Configured = SandboxTerms.pick({ env: true }).loose().extend({ sandbox: SandboxTerms.optional() });

type OfRow = { nowMs: number; request: SandboxRequest | null };

function ofRow(provider: CryptoProvider, row: SandboxGrantRow, { nowMs, request }: OfRow): GrantInForce {
  const { id, terms, expiresAtMs } = row;
  // Terms that were widened behind the kernel do not have the hash that was sealed.
  const isSealed = grantHash(provider, terms) === row.grantHash;
  return {
    ...{ source: 'grant', id, terms, expiresAtMs, hash: row.grantHash },
    hasExpired: nowMs >= expiresAtMs || !isSealed,
    overgrants: request === null ? [] : overgrants(terms, request),
  };
}

type KnownTerms = { source: 'default' | 'configuration'; terms: SandboxTerms; request: SandboxRequest };

function known(provider: CryptoProvider, { source, terms, request }: KnownTerms): GrantInForce {
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
