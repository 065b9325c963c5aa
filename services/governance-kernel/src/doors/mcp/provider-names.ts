import { createHash } from 'node:crypto';
import type { Tool } from '@modelcontextprotocol/client';
import { parseToolAddress, type ToolAddress } from '../../registry/tool-definition.ts';

/** The limits of model providers for function names. */
const acceptedLength = 64;
const accepted = /^[a-zA-Z0-9_-]{1,64}$/;
const separator = '__';
/** Enough to distinguish the thousand tools of a server. */
const digestLength = 10;
/** A shortened name keeps at least this much of the tool's own name. */
const keptMin = 8;

/**
 * The name under which a tool is listed, which model providers accept: `files__read`. A name that is too long or
 * contains other characters is shortened and gets a digest of the whole. If the server's id leaves no room for the
 * digest, the name is `server.tool`.
 */
export function providerName(tool: string): string {
  const address = parseToolAddress(tool);
  if (address === null) return tool;
  const { serverId, toolName } = address;
  const whole = `${serverId}${separator}${toolName}`;
  if (accepted.test(whole)) return whole;
  const short = shortened(address);
  return short === null ? tool : `${serverId}${separator}${short}`;
}

/** The shortened names of each listing. A listing is cached until the next query of the server. */
const existing = new WeakMap<readonly Tool[], ReadonlyMap<string, string>>();

/** The tool of a server that is listed under this shortened name. `null` when there is none, or more than one. */
export function toolOfShortName({ serverId, toolName }: ToolAddress, tools: readonly Tool[]): string | null {
  const names = existing.get(tools) ?? new Map(uniqueShortNames(serverId, tools));
  existing.set(tools, names);
  return names.get(toolName) ?? null;
}

function uniqueShortNames(serverId: string, tools: readonly Tool[]): [string, string][] {
  const all = tools.map(({ name }): [string | null, string] => [shortNameOf(serverId, name), name]);
  const count = new Map<string | null, number>();
  for (const [short] of all) count.set(short, (count.get(short) ?? 0) + 1);
  return all.flatMap(([short, name]): [string, string][] =>
    short === null || count.get(short) !== 1 ? [] : [[short, name]],
  );
}

function shortNameOf(serverId: string, toolName: string): string | null {
  return accepted.test(`${serverId}${separator}${toolName}`) ? null : shortened({ serverId, toolName });
}

function shortened({ serverId, toolName }: ToolAddress): string | null {
  const room = acceptedLength - serverId.length - separator.length - 1 - digestLength;
  if (room < keptMin) return null;
  const digest = createHash('sha256').update(toolName).digest('hex').slice(0, digestLength);
  return `${toolName.replaceAll(/[^a-zA-Z0-9_-]/g, '-').slice(0, room)}_${digest}`;
}
