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

type RegistryParts = { reader: Reader; transaction: Transaction; clock: () => Date };

/** A server is never removed, and its state is that of the moment: the ledger reads it again under the controls' epoch. */
export function createMcpRegistry({ reader, transaction, clock }: RegistryParts): McpRegistry {
  const stateOf = async (serverId: string): Promise<ServerState | null> => {
    const select = { state: true, expires_at: true } as const;
    const server = await reader.mcpServer.findUnique({ where: { server_id: serverId }, select });
    if (server === null) return null;
    const expiresAtMs = server.expires_at?.getTime() ?? null;
    return stateAt({ state: State.parse(server.state), expiresAtMs }, clock().getTime());
  };
  return {
    declareServer: ({ serverId, transport, config }) =>
      transaction(async (tx) => {
        const now = clock();
        const declared = { transport, config: PlainMembers.parse(config), updated_at: now };
        await tx.mcpServer.upsert({
          where: { server_id: serverId },
          create: { server_id: serverId, name: serverId, ...declared, state: 'approved', created_at: now },
          update: declared,
        });
      }),
    recordTools: whileItAnswers(async (serverId, tools, hidden) => {
      // Recorded definitions need no lock.
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

/** A database that does not answer says nothing about a tool: that is told apart from what a decision could rest on. */
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
    reader.mcpServer.findUnique({ where, select: { first_listed_at: true, hidden: true } }),
    reader.mcpTool.findMany({ where, select: { tool_name: true, current_hash: true, gone_at: true } }),
  ]);
  if ((server?.first_listed_at ?? null) === null) return false;
  if (JSON.stringify(HiddenTools.parse(server?.hidden ?? [])) !== JSON.stringify(hidden)) return false;
  const listed = stored.filter(({ gone_at: goneAt }) => goneAt === null);
  const current = new Map(listed.map((tool) => [tool.tool_name, tool.current_hash]));
  return listed.length === tools.length && tools.every(({ name, hash }) => current.get(name) === hash);
}

type Listed = { serverId: string; tools: readonly ObservedTool[]; hidden: readonly HiddenTool[] };
type Recording = Listed & { now: Date };
const HiddenTools = z.array(HiddenTool);

/**
 * The lock makes two replicas that see a server for the first time agree on one pin. It is the one that any change of the registry
 * takes first, or a change that holds it would wait for us and we for it.
 */
async function recordTools(tx: Tx, { serverId, tools, hidden, now }: Recording): Promise<void> {
  await tx.$executeRaw`SELECT lock_controls(true)`;
  // A state of the server, not the absence of tools: one that first lists nothing would else be trusted with whatever it lists later.
  const first = await tx.mcpServer.updateMany({
    where: { server_id: serverId, first_listed_at: null },
    data: { first_listed_at: now },
  });
  await tx.mcpServer.updateMany({ where: { server_id: serverId }, data: { hidden: [...hidden] } });
  const stored = await tx.mcpTool.findMany({ where: { server_id: serverId } });
  const names = new Set(tools.map(({ name }) => name));
  const gone = stored.filter(({ tool_name: name, gone_at: goneAt }) => goneAt === null && !names.has(name));
  if (gone.length > 0)
    await tx.mcpTool.updateMany({
      where: { server_id: serverId, tool_name: { in: gone.map(({ tool_name: name }) => name) } },
      data: { gone_at: now },
    });
  const known = new Map(stored.map((tool) => [tool.tool_name, tool]));
  const pinOf = ({ hash }: ObservedTool) => (first.count === 1 ? { pinned_hash: hash, pinned_at: now } : {});
  await tx.mcpTool.createMany({
    data: tools
      .filter(({ name }) => !known.has(name))
      .map((tool) => ({ server_id: serverId, tool_name: tool.name, ...observed(tool), ...pinOf(tool) })),
  });
  for (const tool of tools) {
    const before = known.get(tool.name);
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

/** The pinned definition stays; beside it stands what the server shows now, so that people see what changed. */
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

/** A pin names its content, so one object per pin serves all: compiled schemas are remembered by the object they came from. */
const definitionsByPin = new Map<string, PinnedDefinition>();
const definitionsKeptMax = 10_000;

function sharedDefinition(pin: string | null, definition: PinnedDefinition): PinnedDefinition {
  if (pin === null) return definition;
  const known = definitionsByPin.get(pin);
  if (known !== undefined) return known;
  if (definitionsByPin.size >= definitionsKeptMax) definitionsByPin.clear();
  definitionsByPin.set(pin, definition);
  return definition;
}
