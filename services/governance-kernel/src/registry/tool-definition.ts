import { sha256Of, type EffectLevel } from '@countersign/contracts';
import { type Digest } from '@countersign/contracts';
import { canonicalBytes, parsePlainJson } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import type { Tool } from '@modelcontextprotocol/client';

/** The members that define what a tool does. The pin covers only these, so icons and titles may change. */
export type PinnedDefinition = Pick<Tool, 'name' | 'description' | 'inputSchema' | 'outputSchema' | 'annotations'>;

export function pinnedDefinition({
  name,
  description,
  inputSchema,
  outputSchema,
  annotations,
}: Tool): PinnedDefinition {
  const optional = { description, outputSchema, annotations };
  const present = Object.entries(optional).filter(([, value]) => value !== undefined);
  return { name, inputSchema, ...Object.fromEntries(present) };
}

/** The hashes of listed tools. Each call needs one, and a tool is the same object until its server is queried again. */
const hashes = new WeakMap<Tool, Digest>();

/**
 * SHA-256 of the canonical JSON of the pinned members. Listed tools are immutable. Throws CryptoError when the server
 * sent values that are not plain JSON.
 */
export function definitionHash(tool: Tool): Digest {
  const existing = hashes.get(tool);
  if (existing !== undefined) return existing;
  const bytes = canonicalBytes(parsePlainJson(pinnedDefinition(tool)));
  const hash = sha256Of(nodeProvider, bytes);
  hashes.set(tool, hash);
  return hash;
}

/**
 * The effect that the pin's annotations declare. A missing or unclear annotation means E4. If two hints contradict
 * each other, the more severe one counts. An addition to an open world (a sent mail) cannot be undone.
 */
export function annotatedEffect({ annotations }: PinnedDefinition): EffectLevel {
  if (annotations?.destructiveHint === true) return 'E4';
  if (annotations?.readOnlyHint === true) return 'E1';
  if (annotations?.destructiveHint === false) return annotations.openWorldHint === true ? 'E3' : 'E2';
  return 'E4';
}

export type ToolAddress = { serverId: string; toolName: string };

/** `files.read_file`: server ids contain no dot, so the first dot is the separator. */
export function parseToolAddress(tool: string): ToolAddress | null {
  return splitAt(tool, { at: tool.indexOf('.') });
}

/** The possible addresses of `files_read_file`, one per `_`, since server ids and tool names may contain it too. */
export function underscoredAddresses(name: string): ToolAddress[] {
  const places = [...name.matchAll(/_/g)].map(({ index }) => index);
  return places.flatMap((at) => splitAt(name, { at }) ?? []);
}

export function toolAddress({ serverId, toolName }: ToolAddress): string {
  return `${serverId}.${toolName}`;
}

function splitAt(name: string, { at }: { at: number }): ToolAddress | null {
  if (at < 1 || at + 1 >= name.length) return null;
  return { serverId: name.slice(0, at), toolName: name.slice(at + 1) };
}
