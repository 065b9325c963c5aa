import type { Digest, PlainJson, PrincipalId, ReceiptId, TenantId } from '@countersign/contracts';
import type { RegistryFact } from '@countersign/policy';
import { columnsOf, instantMs, json, keys, nullable, text } from '../ledger/columns.ts';
import type { Control } from '../ledger/control.ts';
import type { PinnedDefinition } from './tool-definition.ts';

/** The owner of servers: a tenant, or the installation, whose name is empty. */
type ServerOwner = TenantId | '';

export type McpServerRow = {
  /** `server` of the installation, `tenant/server` of a tenant. */
  readonly key: string;
  readonly name: string;
  readonly tenant: TenantId | null;
  readonly transport: 'http' | 'stdio';
  readonly config: Record<string, PlainJson>;
  readonly configHash: Digest | null;
  /** The state as it was set. An approval that has expired is still `approved` here. */
  readonly state: RegistryFact['state'];
  readonly reason: string | null;
  readonly registeredBy: PrincipalId | null;
  readonly approvedBy: PrincipalId | null;
  readonly approvedAtMs: number | null;
  readonly approvalReceiptId: ReceiptId | null;
  readonly expiresAtMs: number | null;
  readonly revokedBy: PrincipalId | null;
  readonly revokedAtMs: number | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** Only while the configuration changes. */
  readonly sealedConfig?: string;
  /** Only in an approval: all tools that the server lists, which replace the earlier pins. */
  readonly pins?: readonly Pin[];
};

type Pin = { tool_name: string; hash: Digest; definition: PinnedDefinition; effect_level: string };

const columns = columnsOf<Omit<McpServerRow, 'sealedConfig' | 'pins'>>({
  key: text('server_id'),
  name: text('name'),
  tenant: nullable(text('tenant_id')),
  transport: text('transport'),
  config: json('config'),
  configHash: nullable(text('config_hash')),
  state: text('state'),
  reason: nullable(text('reason')),
  registeredBy: nullable(text('registered_by')),
  approvedBy: nullable(text('approved_by')),
  approvedAtMs: nullable(instantMs('approved_at')),
  approvalReceiptId: nullable(text('approval_receipt_id')),
  expiresAtMs: nullable(instantMs('expires_at')),
  revokedBy: nullable(text('revoked_by')),
  revokedAtMs: nullable(instantMs('revoked_at')),
  createdAtMs: instantMs('created_at'),
  updatedAtMs: instantMs('updated_at'),
});

const changed = columns.columns.filter((column) => !['server_id', 'name', 'tenant_id', 'created_at'].includes(column));

/**
 * A new server counts as listed, so that its first list pins nothing. An approval replaces all pins: tools that the
 * server lists no longer are forgotten, and a tool that changed again since has drifted.
 */
const putServers = `BEGIN
  INSERT INTO mcp_servers AS t (${columns.columns.join(', ')}, sealed_config, first_listed_at)
  SELECT ${columns.columns.map((column) => `p.${column}`).join(', ')}, p.sealed_config, p.created_at
    FROM jsonb_populate_recordset(NULL::mcp_servers, puts) AS p ORDER BY p.server_id
  ON CONFLICT (server_id) DO UPDATE SET ${changed.map((column) => `${column} = excluded.${column}`).join(', ')},
    sealed_config = coalesce(excluded.sealed_config, t.sealed_config),
    first_listed_at = coalesce(t.first_listed_at, excluded.updated_at);
  DELETE FROM mcp_tools t USING jsonb_to_recordset(puts) AS s(server_id text, pins jsonb)
   WHERE t.server_id = s.server_id AND s.pins IS NOT NULL
     AND NOT EXISTS (SELECT FROM jsonb_to_recordset(s.pins) AS p(tool_name text) WHERE p.tool_name = t.tool_name);
  INSERT INTO mcp_tools AS t (server_id, tool_name, pinned_hash, current_hash, definition, effect_level, pinned_at)
  SELECT s.server_id, p.tool_name, p.hash, p.hash, p.definition, p.effect_level, s.updated_at
    FROM jsonb_to_recordset(puts) AS s(server_id text, pins jsonb, updated_at timestamptz),
         jsonb_to_recordset(coalesce(s.pins, '[]')) AS p(tool_name text, hash text, definition jsonb, effect_level text)
   ORDER BY 1, 2
  ON CONFLICT (server_id, tool_name) DO UPDATE SET pinned_hash = excluded.pinned_hash, definition = excluded.definition,
    effect_level = excluded.effect_level, pinned_at = excluded.pinned_at, gone_at = NULL,
    observed_definition = CASE WHEN t.current_hash = excluded.pinned_hash THEN NULL ELSE coalesce(t.observed_definition, t.definition) END,
    drifted_at = CASE WHEN t.current_hash = excluded.pinned_hash THEN NULL ELSE excluded.pinned_at END;
END `;

/** Which servers an owner has, and what was decided about each. */
export const mcpServers: Control<ServerOwner, McpServerRow> = {
  name: 'mcp_servers',
  guard: 'epoch',
  keyColumns: 1,
  select: (parameter) =>
    `SELECT ${columns.columns.map((column) => `r.${column}`).join(', ')}
       FROM ${keys(parameter, 1)} AS wanted(owner) JOIN mcp_servers r ON coalesce(r.tenant_id, '') = wanted.owner`,
  rowOf: columns.rowOf,
  stored: ({ sealedConfig, pins, ...row }) => ({
    ...columns.stored(row),
    ...(sealedConfig === undefined ? {} : { sealed_config: sealedConfig }),
    ...(pins === undefined ? {} : { pins }),
  }),
  columns: columns.columns,
  writes: { table: 'mcp_servers', primaryKey: ['server_id'], put: { kind: 'body', body: putServers } },
  committed: ({ sealedConfig: _config, pins: _pins, ...row }) => row,
  keyValues: (owner) => [owner],
  keyText: (owner) => owner,
  idOf: ({ key }) => key,
  setsOf: ({ tenant }) => [tenant ?? ''],
};

export function serverKey(owner: ServerOwner, serverId: string): string {
  return owner === '' ? serverId : `${owner}/${serverId}`;
}

/** The server's name in the key. */
export function serverIdOf(key: string): string {
  return key.slice(key.indexOf('/') + 1);
}

export function ownerOf(key: string): ServerOwner {
  return key.slice(0, Math.max(0, key.indexOf('/'))) as ServerOwner; // a key is made of an owner
}

/** The state at an instant: an approval ends by itself. */
export function stateAt({ state, expiresAtMs }: Pick<McpServerRow, 'state' | 'expiresAtMs'>, nowMs: number) {
  return state === 'approved' && expiresAtMs !== null && nowMs >= expiresAtMs ? 'expired' : state;
}
