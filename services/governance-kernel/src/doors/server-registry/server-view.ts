import {
  instantOrNull,
  instantOf,
  jsonDifferences,
  type Digest,
  type EffectLevel,
  type PlainJson,
} from '@countersign/contracts';
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
import type { Caller } from '../../call/governed-call.ts';
import { definitionsHash } from './definitions-hash.ts';
import { stateAt, type McpServerRow } from '../../registry/mcp-servers.ts';

export type StoredTool = {
  name: string;
  pinnedHash: Digest | null;
  observedHash: Digest;
  effectLevel: EffectLevel;
  /** The pinned definition, or the last one that was seen. */
  definition: Record<string, PlainJson>;
  /** The current definition of a drifted tool. `null` for other tools. */
  observed: Record<string, PlainJson> | null;
  /** The pin that ended when the operator declared another server under this name. `null` when there was none. */
  earlier: { hash: Digest; definition: Record<string, PlainJson> } | null;
  isGone: boolean;
};

const orNull = (ms: number | null) => instantOrNull(ms);

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
    created_at: instantOf(row.createdAtMs),
    updated_at: instantOf(row.updatedAtMs),
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
  /** Whether its tools were listed, so that it can be approved. */
  canBeApproved: boolean;
};

/**
 * A server with its tools, their changes since the approval, and the resource of an approval request for all of its
 * listed tools.
 */
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
      .filter(({ isGone, pinnedHash, earlier }) => !isGone || pinnedHash !== null || earlier !== null)
      .map((tool) => toolView(tool, tools)),
    hidden_tools: [...hidden],
    definitions_hash: canBeApproved ? hash : null,
    approval: canBeApproved ? { action: approveServerAction, resource: approveServerResource(row.name, hash) } : null,
  };
}

/** Members of a tenant do not see the problems of a server that serves other tenants too. */
export function shownTo<Server extends McpServer>(caller: Pick<Caller, 'assertion'>, server: Server): Server {
  if (caller.assertion === undefined || server.owner === 'tenant' || server.health === null) return server;
  return { ...server, health: { ...server.health, last_error: null } };
}

function toolView(tool: StoredTool, all: readonly StoredTool[]): McpServerTool {
  const { name, pinnedHash, observedHash, effectLevel, definition, observed, earlier } = tool;
  return {
    name,
    pin: pinOf(tool),
    pinned_hash: pinnedHash,
    observed_hash: observedHash,
    annotated_effect: effectLevel,
    definition: isShort(definition) ? definition : null,
    diff: observed === null ? [] : differences(definition, observed),
    earlier_hash: earlier?.hash ?? null,
    earlier_diff: earlier === null ? [] : differences(earlier.definition, definition),
    renamed_from: pinnedHash === null ? renamedFrom(tool, all) : null,
  };
}

function pinOf({ pinnedHash, observedHash, isGone }: StoredTool): McpServerTool['pin'] {
  if (isGone) return 'missing';
  if (pinnedHash === null) return 'unpinned';
  return pinnedHash === observedHash ? 'in_sync' : 'drifted';
}

/**
 * The pinned tool that disappeared and had the same schemas as this tool. `null` unless there is exactly one such tool.
 */
function renamedFrom(tool: StoredTool, all: readonly StoredTool[]): string | null {
  const schemas = schemasOf(tool);
  const gone = all.filter(
    (candidate) => candidate.isGone && candidate.pinnedHash !== null && schemasOf(candidate) === schemas,
  );
  return gone.length === 1 ? (gone[0]?.name ?? null) : null;
}

function schemasOf({ definition: { inputSchema = null, outputSchema = null } }: StoredTool): string {
  return canonicalize({ inputSchema, outputSchema });
}

function differences(before: Record<string, PlainJson>, after: Record<string, PlainJson>) {
  return isShort(before) && isShort(after) ? jsonDifferences(before, after) : [];
}

function isShort(definition: Record<string, PlainJson>): boolean {
  return Buffer.byteLength(JSON.stringify(definition)) <= toldDefinitionBytesMax;
}
