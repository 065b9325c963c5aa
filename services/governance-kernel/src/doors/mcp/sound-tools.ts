import type { HiddenTool } from '@countersign/contracts/governance-kernel';
import type { Tool, Transport } from '@modelcontextprotocol/client';
import { isSpecType } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { definitionHash } from '../../registry/tool-definition.ts';
import { shownLine } from './last-words.ts';

type Message = Parameters<NonNullable<Transport['onmessage']>>[0];
type Receive = NonNullable<Transport['onmessage']>;

/**
 * The transport, with malformed definitions removed from lists. The SDK would refuse all tools of the server for one
 * malformed definition. `hide` receives each removed definition.
 */
export function withSoundTools(transport: Transport, hide: (tool: HiddenTool) => void): Transport {
  const described: TypedPropertyDescriptor<Receive | undefined> | undefined = Object.getOwnPropertyDescriptor(
    transport,
    'onmessage',
  );
  let receive: Receive | undefined;
  return Object.defineProperty(transport, 'onmessage', {
    configurable: true,
    get: () => receive,
    set: (input: Receive | undefined) => {
      receive = input && ((message, extra) => input(sound(message, hide), extra));
      described?.set?.call(transport, receive);
      receive = described?.get?.call(transport) ?? receive;
    },
  });
}

function sound(message: Message, hide: (tool: HiddenTool) => void): Message {
  if (!('result' in message)) return message;
  const listed = z.array(z.unknown()).safeParse(message.result['tools']);
  if (!listed.success) return message;
  const tools = listed.data;
  const kept = soundOf(tools, hide);
  return kept.length === tools.length ? message : { ...message, result: { ...message.result, tools: kept } };
}

/** The definitions that can be stored, hashed and called. `hide` receives the others. */
export function soundOf<Definition>(tools: readonly Definition[], hide: (tool: HiddenTool) => void): Definition[] {
  return tools.filter((tool) => {
    const problem = problemOf(tool);
    if (problem !== null) hide({ name: nameOf(tool), problem });
    return problem === null;
  });
}

function problemOf(tool: unknown): string | null {
  if (!isSpecType.Tool(tool)) return 'The definition is not a tool of the protocol';
  if (Buffer.byteLength(tool.name) > nameBytesMax) return 'The name is too long to be called';
  if (holdsNul.test(JSON.stringify(tool))) return 'The definition has a NUL character, which cannot be stored';
  try {
    definitionHash(tool);
    return null;
  } catch {
    return 'The definition is not plain JSON, so it has no hash';
  }
}

const nameLengthMax = 256;
/** Four bytes per character of the longest name that a call may have. */
const nameBytesMax = 1_024;
/**
 * The JSON escape of the NUL character. With two backslashes it is ordinary text, which the pattern of a schema may
 * contain.
 */
const holdsNul = /(?<!\\)(?:\\\\)*\\u0000/;

function nameOf(tool: unknown): string {
  const name = typeof tool === 'object' && tool !== null && 'name' in tool ? tool.name : null;
  return typeof name === 'string' ? shownLine(name).slice(0, nameLengthMax) : '(no name)';
}

/** Tools whose names are unique in the list. If several tools share a name, a call could mean any, so none is kept. */
export function uniquelyNamed(tools: readonly Tool[], hide: (tool: HiddenTool) => void): readonly Tool[] {
  const count = new Map<string, number>();
  for (const { name } of tools) count.set(name, (count.get(name) ?? 0) + 1);
  const repeated = new Set([...count].filter(([, times]) => times > 1).map(([name]) => name));
  if (repeated.size === 0) return tools;
  for (const name of repeated)
    hide({ name: shownLine(name).slice(0, nameLengthMax), problem: 'The name is listed more than once' });
  return tools.filter(({ name }) => !repeated.has(name));
}
