import { Digest, EffectLevel } from '@countersign/contracts';
import { HiddenTool } from '@countersign/contracts/governance-kernel';
import { isUnavailable } from '@countersign/database';
import { storeOutage } from '@countersign/service-kit';
import { z } from 'zod';
import { Prisma } from '../generated/prisma/client.ts';
import type { McpToolModel } from '../generated/prisma/models.ts';
import type { McpRegistry, ObservedTool, RegisteredTool, ServerState } from '../registry/mcp-registry.ts';
import { stateAt } from '../registry/mcp-servers.ts';
import type { PinnedDefinition } from '../registry/tool-definition.ts';
import type { Reader, Transaction, Tx } from './database.ts';

type RegistryDeps = { reader: Reader; transaction: Transaction; clock: () => Date };

/** A server's state may change right after a read, so the ledger reads it again under the controls' epoch. */
export function createMcpRegistry({ reader, transaction, clock }: RegistryDeps): McpRegistry {
  const stateOf = async (serverId: string): Promise<ServerState | null> => {
    const select = { state: true, expires_at: true } as const;
    const server = await reader.mcpServer.findUnique({ where: { server_id: serverId }, select });
    if (server === null) return null;
    const expiresAtMs = server.expires_at?.getTime() ?? null;
    return stateAt({ state: State.parse(server.state), expiresAtMs }, clock().getTime());
  };
  return {
    recordTools: whileItAnswers(async (serverId, tools, hidden) => {
      // No lock is needed if the same list is already recorded.
      if (await isRecorded(reader, { serverId, tools, hidden })) return;
      await transaction((tx) => recordTools(tx, { serverId, tools, hidden, now: clock() }));
    }),
    findServer: whileItAnswers(async (serverId) => {
      const state = await stateOf(serverId);
      if (state === null) return null;
      const where = { server_id: serverId };
      const tools = await reader.mcpTool.findMany({ where, orderBy: { tool_name: 'asc' } });
      return { state, tools: tools.map(registeredTool) };
    }),
    findTool: whileItAnswers(async ({ serverId, toolName }) => {
      const key = { server_id: serverId, tool_name: toolName };
      const [state, tool] = await Promise.all([
        stateOf(serverId),
        reader.mcpTool.findUnique({ where: { server_id_tool_name: key } }),
      ]);
      return state === null ? null : { state, tool: tool === null ? null : registeredTool(tool) };
    }),
  };
}

const outage = storeOutage(isUnavailable);

/** Turns failures of the database into outages, so that no decision mistakes them for facts about a tool. */
function whileItAnswers<Args extends unknown[], Found>(
  ask: (...args: Args) => Promise<Found>,
): (...args: Args) => Promise<Found> {
  return (...args) =>
    ask(...args).catch((error: unknown) => {
      throw outage(error) ?? error;
    });
}

async function isRecorded(reader: Reader, { serverId, tools, hidden }: Listed): Promise<boolean> {
  const where = { server_id: serverId };
  const [server, stored] = await Promise.all([
    reader.mcpServer.findUnique({ where, select: { hidden: true } }),
    reader.mcpTool.findMany({ where, select: { tool_name: true, current_hash: true, gone_at: true } }),
  ]);
  if (JSON.stringify(HiddenTools.parse(server?.hidden ?? [])) !== JSON.stringify(hidden)) return false;
  const listed = stored.filter(({ gone_at: goneAt }) => goneAt === null);
  const current = new Map(listed.map((tool) => [tool.tool_name, tool.current_hash]));
  return listed.length === tools.length && tools.every(({ name, hash }) => current.get(name) === hash);
}

type Listed = { serverId: string; tools: readonly ObservedTool[]; hidden: readonly HiddenTool[] };
type Recording = Listed & { now: Date };
const HiddenTools = z.array(HiddenTool);

/** Every change of the registry takes this lock first, so no deadlock is possible. */
async function recordTools(tx: Tx, { serverId, tools, hidden, now }: Recording): Promise<void> {
  await tx.$executeRaw`SELECT lock_controls(true)`;
  await tx.mcpServer.updateMany({ where: { server_id: serverId }, data: { hidden: [...hidden] } });
  const stored = await tx.mcpTool.findMany({ where: { server_id: serverId } });
  const names = new Set(tools.map(({ name }) => name));
  const gone = stored.filter(({ tool_name: name, gone_at: goneAt }) => goneAt === null && !names.has(name));
  if (gone.length > 0)
    await tx.mcpTool.updateMany({
      where: { server_id: serverId, tool_name: { in: gone.map(({ tool_name: name }) => name) } },
      data: { gone_at: now },
    });
  const existing = new Map(stored.map((tool) => [tool.tool_name, tool]));
  await tx.mcpTool.createMany({
    data: tools
      .filter(({ name }) => !existing.has(name))
      .map((tool) => ({ server_id: serverId, tool_name: tool.name, ...observed(tool) })),
  });
  for (const tool of tools) {
    const before = existing.get(tool.name);
    if (before === undefined || (before.current_hash === tool.hash && before.gone_at === null)) continue;
    const shown = before.pinned_hash === null ? observed(tool) : observedBeside(before.pinned_hash, tool, now);
    await tx.mcpTool.update({
      where: { server_id_tool_name: { server_id: serverId, tool_name: tool.name } },
      data: { ...(before.current_hash === tool.hash ? {} : shown), gone_at: null },
    });
  }
}

function observed({ hash, definition, effectLevel }: ObservedTool) {
  return { current_hash: hash, definition: PlainMembers.parse(definition), effect_level: effectLevel };
}

/** The pinned definition stays. The current one is stored separately, so that people see the change. */
function observedBeside(pinnedHash: string, { hash, definition }: ObservedTool, now: Date) {
  if (hash === pinnedHash) return { current_hash: hash, observed_definition: Prisma.DbNull, drifted_at: null };
  return { current_hash: hash, observed_definition: PlainMembers.parse(definition), drifted_at: now };
}

const PlainMembers = z.record(z.string(), z.json());
const State = z.enum(['discovered', 'quarantined', 'approved', 'revoked', 'expired'] satisfies ServerState[]);

function registeredTool(row: McpToolModel): RegisteredTool {
  const pinnedHash = Digest.nullable().parse(row.pinned_hash);
  return {
    serverId: row.server_id,
    toolName: row.tool_name,
    pinnedHash,
    currentHash: Digest.parse(row.current_hash),
    definition: sharedDefinition(pinnedHash, row.definition as PinnedDefinition), // as recordTools wrote it
    effectLevel: EffectLevel.parse(row.effect_level),
    isGone: row.gone_at !== null,
  };
}

/** One definition object per pin, since a pin identifies the content. Compiled schemas are cached by this object. */
const definitionsByPin = new Map<string, PinnedDefinition>();
const definitionsKeptMax = 10_000;

function sharedDefinition(pin: string | null, definition: PinnedDefinition): PinnedDefinition {
  if (pin === null) return definition;
  const existing = definitionsByPin.get(pin);
  if (existing !== undefined) return existing;
  if (definitionsByPin.size >= definitionsKeptMax) definitionsByPin.clear();
  definitionsByPin.set(pin, definition);
  return definition;
}
