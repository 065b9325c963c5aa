import type { EffectLevel } from '@countersign/contracts';
import { type Digest } from '@countersign/contracts';
import { canonicalBytes, digestOf, parsePlainJson } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import type { Tool } from '@modelcontextprotocol/client';

/** The members that say what a tool does: the pin covers them and nothing else, so icons and titles may change. */
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

/** A listing is kept until the server is asked again, and each call looks at the definition in it. */
const hashes = new WeakMap<Tool, Digest>();

/**
 * SHA-256 of the canonical JSON of the pinned members; a listed tool is never changed. Throws CryptoError when the
 * server sent what is not plain JSON.
 */
export function definitionHash(tool: Tool): Digest {
  const known = hashes.get(tool);
  if (known !== undefined) return known;
  const bytes = canonicalBytes(parsePlainJson(pinnedDefinition(tool)));
  const hash = digestOf(nodeProvider, bytes) as Digest; // digestOf writes exactly this form
  hashes.set(tool, hash);
  return hash;
}

/**
 * The effect that the annotations of the pin declare. Silence and anything unclear is E4. If two hints contradict each
 * other, the graver one counts, and an addition to an open world (a sent mail) cannot be taken back.
 */
export function annotatedEffect({ annotations }: PinnedDefinition): EffectLevel {
  if (annotations?.destructiveHint === true) return 'E4';
  if (annotations?.readOnlyHint === true) return 'E1';
  if (annotations?.destructiveHint === false) return annotations.openWorldHint === true ? 'E3' : 'E2';
  return 'E4';
}

export type ToolAddress = { serverId: string; toolName: string };

/** `files.read_file`: server ids hold no dot, so the first one separates. */
export function parseToolAddress(tool: string): ToolAddress | null {
  return splitAt(tool, { at: tool.indexOf('.') });
}

/** The possible addresses behind `files_read_file`, once for each `_`: server ids and names of tools hold it too. */
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
