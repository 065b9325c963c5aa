import type { Digest } from '@countersign/contracts';
import type { SandboxRequest } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider } from '@countersign/crypto';
import { toolsNamed, type Fact, type HeldGrant, type RegistryFact } from '@countersign/policy';
import type { NamedCall } from '../../call/governed-call.ts';
import type { SealedIntent } from '../../call/normalise.ts';
import type { LedgerBatch } from '../../ledger/batch.ts';
import { wanted, type Wanted } from '../../ledger/control.ts';
import { mcpServers, ownerOf, type McpServerRow } from '../../registry/mcp-servers.ts';
import { parseToolAddress } from '../../registry/tool-definition.ts';
import { grantInForce, type GrantInForce } from './grant-in-force.ts';
import { overgrants } from './overgrants.ts';
import { sandboxGrants } from './sandbox-grants.ts';

type Basis = {
  call: NamedCall;
  intent: SealedIntent;
  /** The registry key of the tool's server. `null` when the name of the server is its key. */
  serverKey: string | null;
  servers: string | null;
  learned: Fact<RegistryFact>;
};

export function wantedGrants({ call: { caller }, intent }: Basis): Wanted[] {
  return toolsNamed(intent).length === 0 ? [] : [wanted(sandboxGrants, caller.tenant)];
}

/**
 * The grant of the tool of a call, and the requested accesses beyond it. `null` when the call has no tool, or when the
 * tool has no grant and the call requests no sandbox.
 */
export function heldGrant(
  batch: LedgerBatch,
  provider: CryptoProvider,
  { nowMs, ...existing }: Basis & { nowMs: number },
): HeldGrant | null {
  const { call, intent } = existing;
  if (intent.tool === null) return null;
  const rows = batch.rows(sandboxGrants, call.caller.tenant);
  const server = serverOf(batch, existing);
  // A remote server is not sandboxed by this kernel, so it has no grant.
  if (server?.transport === 'http') return call.sandbox === undefined ? null : nothingGranted;
  const grant = grantInForce(provider, { rows, server, tool: intent.tool, nowMs });
  if (grant === null) return call.sandbox === undefined ? null : nothingGranted;
  return {
    grant_hash: grant.hash,
    has_expired: grant.hasExpired,
    overgrants: [...grant.overgrants, ...beyond(grant, call.sandbox ?? null)],
    // A server that a tenant added always runs in a sandbox, even if the policy does not require one.
    always: server !== null && server.tenant !== null,
  };
}

/** For a call that requests a sandbox although no grant exists. Such a call is denied, whatever the policy requires. */
const nothingGranted: HeldGrant = { grant_hash: null, has_expired: false, overgrants: [], always: true };

type Stated = { request: SandboxRequest; grantHash: Digest | undefined };

function beyond({ hash, terms }: GrantInForce, stated: Stated | null): string[] {
  if (stated === null) return [];
  const isAnother = stated.grantHash !== undefined && stated.grantHash !== hash;
  return [...(isAnother ? ['a grant other than the current grant'] : []), ...overgrants(terms, stated.request)];
}

/** The server that has the tool. */
function serverOf(batch: LedgerBatch, { intent, learned, serverKey, servers }: Basis): McpServerRow | null {
  const address = servers === null || learned.state !== 'known' ? null : parseToolAddress(intent.tool ?? '');
  if (address === null) return null;
  const key = serverKey ?? address.serverId;
  return batch.rows(mcpServers, ownerOf(key)).find((server) => server.key === key) ?? null;
}
