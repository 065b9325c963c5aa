import { jsonDifferences, type Digest, type EffectLevel, type PlainJson } from '@countersign/contracts';
import {
  approveServerAction,
  approveServerResource,
  toldDefinitionBytesMax,
  type HiddenTool,
  type McpServer,
  type McpServerDetail,
  type McpServerTool,
  type ServerHealth,
} from '@countersign/contracts/governance-kernel';
import { canonicalize, type CryptoProvider } from '@countersign/crypto';
import { instant } from '../approvals/timelock.ts';
import type { Caller } from '../call/governed-call.ts';
import { definitionsHash } from './definitions-hash.ts';
import { stateAt, type McpServerRow } from '../registry/mcp-servers.ts';

export type StoredTool = {
  name: string;
  pinnedHash: Digest | null;
  observedHash: Digest;
  effectLevel: EffectLevel;
  /** The pinned one, or the one that was seen last. */
  definition: Record<string, PlainJson>;
  /** Present for a drifted tool. */
  observed: Record<string, PlainJson> | null;
  isGone: boolean;
};

const orNull = (ms: number | null) => (ms === null ? null : instant(ms));

type Connection = { nowMs: number; notConnected: string | null; health: ServerHealth | null };

export function serverView(row: McpServerRow, { nowMs, notConnected, health }: Connection): McpServer {
  return {
    server_id: row.name,
    owner: row.tenant === null ? 'installation' : 'tenant',
    ...{ transport: row.transport, config: row.config, reason: row.reason },
    state: stateAt(row, nowMs),
    not_connected: notConnected,
    health,
    registered_by: row.registeredBy,
    created_at: instant(row.createdAtMs),
    updated_at: instant(row.updatedAtMs),
    approved_by: row.approvedBy,
    approved_at: orNull(row.approvedAtMs),
    approval_receipt_id: row.approvalReceiptId,
    expires_at: orNull(row.expiresAtMs),
    revoked_by: row.revokedBy,
    revoked_at: orNull(row.revokedAtMs),
  };
}

type Detail = Connection & {
  tools: readonly StoredTool[];
  hidden: readonly HiddenTool[];
  /** Its tools were listed, so that there is something to approve. */
  canBeApproved: boolean;
};

/** A server with every tool, what changed of each since the approval, and what an approval of all of it is requested for. */
export function serverDetail(
  provider: CryptoProvider,
  row: McpServerRow,
  { tools, hidden, canBeApproved, ...shown }: Detail,
): Omit<McpServerDetail, 'approval_request'> {
  const listed = tools.filter(({ isGone }) => !isGone).map(({ name, observedHash: hash }) => ({ name, hash }));
  const hash = definitionsHash(provider, { serverId: row.name, configHash: row.configHash, tools: listed });
  return {
    ...serverView(row, shown),
    tools: tools
      .filter(({ isGone, pinnedHash }) => !isGone || pinnedHash !== null)
      .map((tool) => toolView(tool, tools)),
    hidden_tools: [...hidden],
    definitions_hash: canBeApproved ? hash : null,
    approval: canBeApproved ? { action: approveServerAction, resource: approveServerResource(row.name, hash) } : null,
  };
}

/** A member of a tenant does not read what is wrong with a server that serves other tenants too. */
export function shownTo<Server extends McpServer>(caller: Pick<Caller, 'assertion'>, server: Server): Server {
  if (caller.assertion === undefined || server.owner === 'tenant' || server.health === null) return server;
  return { ...server, health: { ...server.health, last_error: null } };
}

function toolView(tool: StoredTool, all: readonly StoredTool[]): McpServerTool {
  const { name, pinnedHash, observedHash, effectLevel, definition, observed } = tool;
  return {
    name,
    pin: pinOf(tool),
    pinned_hash: pinnedHash,
    observed_hash: observedHash,
    annotated_effect: effectLevel,
    definition: isShort(definition) ? definition : null,
    diff: observed !== null && isShort(observed) && isShort(definition) ? jsonDifferences(definition, observed) : [],
    renamed_from: pinnedHash === null ? renamedFrom(tool, all) : null,
  };
}

function pinOf({ pinnedHash, observedHash, isGone }: StoredTool): McpServerTool['pin'] {
  if (isGone) return 'missing';
  if (pinnedHash === null) return 'unpinned';
  return pinnedHash === observedHash ? 'in_sync' : 'drifted';
}

/** The one pinned tool that disappeared and that had the same schemas. A new name must not hide what a tool was. */
function renamedFrom(tool: StoredTool, all: readonly StoredTool[]): string | null {
  const schemas = schemasOf(tool);
  const gone = all.filter((other) => other.isGone && other.pinnedHash !== null && schemasOf(other) === schemas);
  return gone.length === 1 ? (gone[0]?.name ?? null) : null;
}

function schemasOf({ definition: { inputSchema = null, outputSchema = null } }: StoredTool): string {
  return canonicalize({ inputSchema, outputSchema });
}

function isShort(definition: Record<string, PlainJson>): boolean {
  return Buffer.byteLength(JSON.stringify(definition)) <= toldDefinitionBytesMax;
}
