import type { Digest, EffectLevel } from '@countersign/contracts';
import { inTransaction } from '@countersign/database';
import type pg from 'pg';
import type { McpRegistry, ObservedTool, RegisteredTool, ServerState } from '../registry/mcp-registry.ts';
import type { PinnedDefinition } from '../registry/tool-definition.ts';

type ToolRow = {
  server_id: string;
  state: ServerState;
  tool_name: string | null;
  pinned_hash: Digest | null;
  current_hash: Digest | null;
  definition: PinnedDefinition | null;
  effect_level: EffectLevel | null;
};

export function createMcpRegistry({ pool, clock }: { pool: pg.Pool; clock: () => Date }): McpRegistry {
  return {
    declareServer: async ({ serverId, transport, config }) => {
      await pool.query(
        `INSERT INTO mcp_servers (server_id, name, transport, config, state, created_at, updated_at)
         VALUES ($1, $1, $2, $3, 'approved', $4, $4)
         ON CONFLICT (server_id) DO UPDATE SET transport = excluded.transport, config = excluded.config, updated_at = excluded.updated_at`,
        [serverId, transport, JSON.stringify(config), clock()],
      );
    },
    recordTools: (serverId, tools) =>
      inTransaction(pool, (client) => recordTools(client, { serverId, tools, now: clock() })),
    findServer: async (serverId) => {
      const rows = await selectTools(pool, serverId, null);
      const [first] = rows;
      return first === undefined
        ? null
        : { state: first.state, tools: rows.flatMap((row) => registeredTool(row) ?? []) };
    },
    findTool: async ({ serverId, toolName }) => {
      const [row] = await selectTools(pool, serverId, toolName);
      return row === undefined ? null : { state: row.state, tool: registeredTool(row) };
    },
  };
}

type Recording = { serverId: string; tools: readonly ObservedTool[]; now: Date };

async function recordTools(client: pg.PoolClient, { serverId, tools, now }: Recording): Promise<void> {
  // The lock makes two replicas that see a server for the first time agree on one pin.
  await client.query('SELECT 1 FROM mcp_servers WHERE server_id = $1 FOR UPDATE', [serverId]);
  const { rows } = await client.query('SELECT 1 FROM mcp_tools WHERE server_id = $1 LIMIT 1', [serverId]);
  const firstSight = rows.length === 0;
  await client.query(
    `INSERT INTO mcp_tools (server_id, tool_name, pinned_hash, current_hash, definition, effect_level, pinned_at)
     SELECT $1, n.tool_name, CASE WHEN $6 THEN n.hash END, n.hash, n.definition, n.effect_level, CASE WHEN $6 THEN $7::timestamptz END
       FROM unnest($2::text[], $3::text[], $4::jsonb[], $5::text[]) AS n(tool_name, hash, definition, effect_level)
     ON CONFLICT (server_id, tool_name) DO UPDATE SET
       current_hash = excluded.current_hash,
       definition = CASE WHEN mcp_tools.pinned_hash IS NULL THEN excluded.definition ELSE mcp_tools.definition END,
       effect_level = CASE WHEN mcp_tools.pinned_hash IS NULL THEN excluded.effect_level ELSE mcp_tools.effect_level END`,
    [
      serverId,
      tools.map(({ name }) => name),
      tools.map(({ hash }) => hash),
      tools.map(({ definition }) => JSON.stringify(definition)),
      tools.map(({ effectLevel }) => effectLevel),
      firstSight,
      now,
    ],
  );
}

async function selectTools(pool: pg.Pool, serverId: string, toolName: string | null): Promise<ToolRow[]> {
  const { rows } = await pool.query<ToolRow>({
    name: 'mcp-select-tools',
    text: `SELECT s.server_id, s.state, t.tool_name, t.pinned_hash, t.current_hash, t.definition, t.effect_level
             FROM mcp_servers s LEFT JOIN mcp_tools t ON t.server_id = s.server_id AND ($2::text IS NULL OR t.tool_name = $2)
            WHERE s.server_id = $1 ORDER BY t.tool_name`,
    values: [serverId, toolName],
  });
  return rows;
}

/** A pin names its content, so one object per pin serves all: compiled schemas are remembered by the object they came from. */
const definitionsByPin = new Map<string, RegisteredTool['definition']>();
const definitionsKeptMax = 10_000;

function sharedDefinition(pin: string | null, definition: RegisteredTool['definition']): RegisteredTool['definition'] {
  if (pin === null) return definition;
  const known = definitionsByPin.get(pin);
  if (known !== undefined) return known;
  if (definitionsByPin.size >= definitionsKeptMax) definitionsByPin.clear();
  definitionsByPin.set(pin, definition);
  return definition;
}

function registeredTool(row: ToolRow): RegisteredTool | null {
  const { server_id, tool_name, current_hash, definition, effect_level, pinned_hash } = row;
  if (tool_name === null || current_hash === null || definition === null || effect_level === null) return null;
  return {
    serverId: server_id,
    toolName: tool_name,
    pinnedHash: pinned_hash,
    currentHash: current_hash,
    definition: sharedDefinition(pinned_hash, definition),
    effectLevel: effect_level,
  };
}
