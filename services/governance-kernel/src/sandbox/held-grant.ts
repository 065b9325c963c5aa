import type { Digest } from '@countersign/contracts';
import type { SandboxRequest } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider } from '@countersign/crypto';
import { toolsNamed, type Fact, type HeldGrant, type RegistryFact } from '@countersign/policy';
import type { NamedCall } from '../call/governed-call.ts';
import type { SealedIntent } from '../call/normalise.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import { wanted, type Wanted } from '../ledger/control.ts';
import { mcpServers, ownerOf, type McpServerRow } from '../registry/mcp-servers.ts';
import { parseToolAddress } from '../registry/tool-definition.ts';
import { grantInForce, type GrantInForce } from './grant-in-force.ts';
import { overgrants } from './overgrants.ts';
import { sandboxGrants } from './sandbox-grants.ts';

type Known = {
  call: NamedCall;
  intent: SealedIntent;
  /** In the registry, of the server of the tool. `null`: the name of the server. */
  serverKey: string | null;
  servers: string | null;
  learned: Fact<RegistryFact>;
};

export function wantedGrants({ call: { caller }, intent }: Known): Wanted[] {
  return toolsNamed(intent).length === 0 ? [] : [wanted(sandboxGrants, caller.tenant)];
}

/** The grant under which the tool of a call runs, and what is asked beyond it. `null`: the call names no tool, or nothing is granted to it. */
export function heldGrant(
  batch: LedgerBatch,
  provider: CryptoProvider,
  { nowMs, ...known }: Known & { nowMs: number },
): HeldGrant | null {
  const { call, intent } = known;
  if (intent.tool === null) return null;
  const rows = batch.rows(sandboxGrants, call.caller.tenant);
  const server = serverOf(batch, known);
  // Nothing here holds a program that runs elsewhere.
  if (server?.transport === 'http') return call.sandbox === undefined ? null : nothingGranted;
  const grant = grantInForce(provider, { rows, server, tool: intent.tool, nowMs });
  if (grant === null) return call.sandbox === undefined ? null : nothingGranted;
  return {
    grant_hash: grant.hash,
    has_expired: grant.hasExpired,
    overgrants: [...grant.overgrants, ...beyond(grant, call.sandbox ?? null)],
    // A server that was added at run time runs in a sandbox, whatever the policy demands.
    always: server !== null && server.tenant !== null,
  };
}

/** The request of a preflight is above a grant that does not exist. */
const nothingGranted: HeldGrant = { grant_hash: null, has_expired: false, overgrants: [], always: true };

type Stated = { request: SandboxRequest; grantHash: Digest | undefined };

function beyond({ hash, terms }: GrantInForce, stated: Stated | null): string[] {
  if (stated === null) return [];
  const isAnother = stated.grantHash !== undefined && stated.grantHash !== hash;
  return [...(isAnother ? ['another grant than the one in force'] : []), ...overgrants(terms, stated.request)];
}

/** The server that has the tool. */
function serverOf(batch: LedgerBatch, { intent, learned, serverKey, servers }: Known): McpServerRow | null {
  const address = servers === null || learned.state !== 'known' ? null : parseToolAddress(intent.tool ?? '');
  if (address === null) return null;
  const key = serverKey ?? address.serverId;
  return batch.rows(mcpServers, ownerOf(key)).find((server) => server.key === key) ?? null;
}
