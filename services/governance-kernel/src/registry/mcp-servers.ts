import type { Digest, PlainJson, PrincipalId, ReceiptId, TenantId } from '@countersign/contracts';
import type { RegistryFact } from '@countersign/policy';
import { columnsOf, instantMs, json, keys, nullable, text } from '../ledger/columns.ts';
import type { Control } from '../ledger/control.ts';
import type { ObservedTool } from './mcp-registry.ts';
import type { PinnedDefinition } from './tool-definition.ts';

/** The owner of servers: a tenant, or the installation with an empty name. */
type ServerOwner = TenantId | '';

export type McpServerRow = {
  /** `server` for the installation, `tenant/server` for a tenant. */
  readonly key: string;
  readonly name: string;
  readonly tenant: TenantId | null;
  readonly transport: 'http' | 'stdio';
  readonly config: Record<string, PlainJson>;
  readonly configHash: Digest | null;
  /** The stored state. An expired approval is still `approved` here. */
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
  /** `null` while a declared server awaits its first list, which will be pinned. */
  readonly firstListedAtMs: number | null;
  /** When another server last got this name. Older keys for its tools end before it is approved. `null` when none did. */
  readonly replacedAtMs: number | null;
} & Written;

/** Members of a change that are not read with the row. */
type Written = {
  /** Present only when the configuration changes. */
  readonly sealedConfig?: string;
  /** Only in an approval, or for the first list of a declared server: all listed tools, which replace earlier pins. */
  readonly pins?: readonly Pin[];
  /** Only in a declaration by the operator: a new server awaits its first list. */
  readonly pinsFirstList?: true;
  /** Only in a declaration of another server under a known name: its pins end, and it awaits its first list. */
  readonly endsPins?: true;
  /** Only for the pins of a first list: ended pins stay visible beside the new ones. */
  readonly keepsEndedPins?: true;
};

type Pin = { tool_name: string; hash: Digest; definition: PinnedDefinition; effect_level: string };

const columns = columnsOf<Omit<McpServerRow, keyof Written>>({
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
  firstListedAtMs: nullable(instantMs('first_listed_at')),
  replacedAtMs: nullable(instantMs('replaced_at')),
});

const inserted = columns.columns.filter((column) => column !== 'first_listed_at');
const changed = inserted.filter(
  (column) => !['server_id', 'name', 'tenant_id', 'created_at', 'replaced_at'].includes(column),
);

/**
 * A new server counts as already listed, so that its first list pins nothing. A server that the operator declares does
 * not count as listed. If the operator declares another server under a known name, the pins end and stay visible as
 * earlier ones. An approval replaces all pins: tools that are no longer listed are removed, and a tool that has changed
 * again has drifted. Kernels of an earlier version write rows without the newer members.
 */
const putServers = `BEGIN
  UPDATE mcp_tools t SET pinned_hash = NULL, pinned_at = NULL, earlier_hash = t.pinned_hash,
         earlier_definition = CASE WHEN t.pinned_hash IS NOT NULL THEN t.definition END,
         definition = coalesce(t.observed_definition, t.definition), observed_definition = NULL, drifted_at = NULL
    FROM jsonb_to_recordset(puts) AS s(server_id text, ends_pins boolean), mcp_servers m
   WHERE s.ends_pins AND m.server_id = s.server_id AND m.first_listed_at IS NOT NULL AND t.server_id = s.server_id;
  INSERT INTO mcp_servers AS t (${inserted.join(', ')}, sealed_config, first_listed_at)
  SELECT ${inserted.map((column) => `p.${column}`).join(', ')}, p.sealed_config,
         CASE WHEN f.pins_first_list THEN NULL ELSE p.updated_at END
    FROM jsonb_populate_recordset(NULL::mcp_servers, puts) AS p
    JOIN jsonb_to_recordset(puts) AS f(server_id text, pins_first_list boolean) ON f.server_id = p.server_id
   ORDER BY p.server_id
  ON CONFLICT (server_id) DO UPDATE SET ${changed.map((column) => `${column} = excluded.${column}`).join(', ')},
    sealed_config = coalesce(excluded.sealed_config, t.sealed_config),
    replaced_at = coalesce(excluded.replaced_at, t.replaced_at),
    first_listed_at = coalesce(t.first_listed_at, excluded.first_listed_at);
  UPDATE mcp_servers t SET first_listed_at = NULL
    FROM jsonb_to_recordset(puts) AS s(server_id text, ends_pins boolean)
   WHERE s.ends_pins AND t.server_id = s.server_id;
  UPDATE mcp_tools t SET earlier_hash = NULL, earlier_definition = NULL
    FROM jsonb_to_recordset(puts) AS s(server_id text, pins jsonb, keeps_ended_pins boolean)
   WHERE t.server_id = s.server_id AND s.pins IS NOT NULL AND s.keeps_ended_pins IS NULL AND t.earlier_hash IS NOT NULL;
  DELETE FROM mcp_tools t USING jsonb_to_recordset(puts) AS s(server_id text, pins jsonb)
   WHERE t.server_id = s.server_id AND s.pins IS NOT NULL AND t.earlier_hash IS NULL
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

/** The servers of an owner, and the decision about each. */
export const mcpServers: Control<ServerOwner, McpServerRow> = {
  name: 'mcp_servers',
  guard: 'epoch',
  keyColumns: 1,
  select: (parameter) =>
    `SELECT ${columns.columns.map((column) => `r.${column}`).join(', ')}
       FROM ${keys(parameter, 1)} AS wanted(owner) JOIN mcp_servers r ON coalesce(r.tenant_id, '') = wanted.owner`,
  rowOf: columns.rowOf,
  stored: ({ sealedConfig, pins, pinsFirstList, endsPins, keepsEndedPins, ...row }) => ({
    ...columns.stored(row),
    ...(sealedConfig === undefined ? {} : { sealed_config: sealedConfig }),
    ...(pins === undefined ? {} : { pins }),
    ...(pinsFirstList === undefined ? {} : { pins_first_list: pinsFirstList }),
    ...(endsPins === undefined ? {} : { ends_pins: endsPins }),
    ...(keepsEndedPins === undefined ? {} : { keeps_ended_pins: keepsEndedPins }),
  }),
  columns: columns.columns,
  writes: { table: 'mcp_servers', primaryKey: ['server_id'], put: { kind: 'body', body: putServers } },
  committed: ({
    sealedConfig: _,
    pins: _pins,
    pinsFirstList: _first,
    endsPins: _ends,
    keepsEndedPins: _keeps,
    ...row
  }) => row,
  keyValues: (owner) => [owner],
  keyText: (owner) => owner,
  idOf: ({ key }) => key,
  setsOf: ({ tenant }) => [tenant ?? ''],
};

/** The pin of a listed tool. */
export function pinOf({ name, hash, definition, effectLevel }: ObservedTool): Pin {
  return { tool_name: name, hash, definition, effect_level: effectLevel };
}

export function serverKey(owner: ServerOwner, serverId: string): string {
  return owner === '' ? serverId : `${owner}/${serverId}`;
}

/** The server's name in the key. */
export function serverIdOf(key: string): string {
  return key.slice(key.indexOf('/') + 1);
}

export function ownerOf(key: string): ServerOwner {
  return key.slice(0, Math.max(0, key.indexOf('/'))) as ServerOwner; // serverKey puts the owner first
}

/** The state at an instant, since an approval expires by itself. */
export function stateAt({ state, expiresAtMs }: Pick<McpServerRow, 'state' | 'expiresAtMs'>, nowMs: number) {
  return state === 'approved' && expiresAtMs !== null && nowMs >= expiresAtMs ? 'expired' : state;
}
