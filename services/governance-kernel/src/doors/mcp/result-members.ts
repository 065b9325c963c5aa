import type { ContentBlock } from '@modelcontextprotocol/client';
import type { ToolResult } from './send-operation.ts';

/** The members of a result, and of each kind of content, that reach a caller. Others are removed. */
const resultMembers = ['content', 'structuredContent', 'isError'];
const annotated = ['type', 'annotations', '_meta'];
const contentMembers: Readonly<Record<ContentBlock['type'], readonly string[]>> = {
  text: [...annotated, 'text'],
  image: [...annotated, 'data', 'mimeType'],
  audio: [...annotated, 'data', 'mimeType'],
  resource: [...annotated, 'resource'],
  resource_link: [...annotated, 'uri', 'name', 'title', 'description', 'mimeType', 'size'],
};
const resourceMembers = ['uri', 'mimeType', 'text', 'blob', '_meta'];

/** The result that its caller may see. Content of an unknown kind is withheld, and the result states that. */
export function knownMembers(result: ToolResult): ToolResult {
  const { content, _meta, questions, ...rest } = result;
  const existing = {
    ...picked(rest, resultMembers),
    content: content.map(knownContent),
    ...(questions === undefined ? {} : { questions }),
  };
  return _meta === undefined ? existing : { ...existing, _meta: foreignMeta(_meta) };
}

function knownContent(contentBlock: ContentBlock): ContentBlock {
  if (!Object.hasOwn(contentMembers, contentBlock.type))
    return { type: 'text', text: 'Content of an unknown kind was withheld.' };
  const existing = withForeignMeta(picked(contentBlock, contentMembers[contentBlock.type]));
  return existing.type === 'resource'
    ? { ...existing, resource: withForeignMeta(picked(existing.resource, resourceMembers)) }
    : existing;
}

function withForeignMeta<Part extends { _meta?: Record<string, unknown> | undefined }>(piece: Part): Part {
  return piece._meta === undefined ? piece : { ...piece, _meta: foreignMeta(piece._meta) };
}

/** A prefix is reserved if one of its labels is ours or the protocol's. */
const reservedPrefix = /^(?:[^/]*\.)?(?:countersign|modelcontextprotocol|mcp)(?:\.[^/]*)?\//i;

/** Removes metadata under our names and those of the protocol, some of which have no prefix. */
function foreignMeta(meta: Record<string, unknown>): Record<string, unknown> {
  const members = Object.entries(meta);
  return Object.fromEntries(members.filter(([name]) => !reservedPrefix.test(name) && !protocolNames.has(name)));
}

const protocolNames = new Set(['progressToken', 'traceparent', 'tracestate', 'baggage']);

/** The object reduced to these members. */
function picked<Whole extends object>(whole: Whole, names: readonly string[]): Whole {
  const members = Object.entries(whole).filter(([name]) => names.includes(name));
  return Object.fromEntries(members) as Whole; // omitted members are optional in every shape, or unknown
}
