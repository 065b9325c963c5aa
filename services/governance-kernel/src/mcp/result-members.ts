import type { ContentBlock } from '@modelcontextprotocol/client';
import type { ToolResult } from './send-operation.ts';

/**
 * The members of a result, and of each kind of content, that reach a caller. Additional members of a server are left
 * out.
 */
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

/** A result as its caller may see it. Content of a kind that is not known is withheld, and the result says so. */
export function knownMembers(result: ToolResult): ToolResult {
  const { content, _meta, questions, ...rest } = result;
  const known = {
    ...picked(rest, resultMembers),
    content: content.map(knownContent),
    ...(questions === undefined ? {} : { questions }),
  };
  return _meta === undefined ? known : { ...known, _meta: foreignMeta(_meta) };
}

function knownContent(part: ContentBlock): ContentBlock {
  if (!Object.hasOwn(contentMembers, part.type))
    return { type: 'text', text: 'Content of an unknown kind was withheld.' };
  const known = withForeignMeta(picked(part, contentMembers[part.type]));
  return known.type === 'resource'
    ? { ...known, resource: withForeignMeta(picked(known.resource, resourceMembers)) }
    : known;
}

function withForeignMeta<Part extends { _meta?: Record<string, unknown> | undefined }>(part: Part): Part {
  return part._meta === undefined ? part : { ...part, _meta: foreignMeta(part._meta) };
}

/** A prefix of which one label is ours or the protocol's is reserved, whatever stands around it. */
const reservedPrefix = /^(?:[^/]*\.)?(?:countersign|modelcontextprotocol|mcp)(?:\.[^/]*)?\//i;

/** An upstream may not speak in our name, nor in that of the protocol, which writes some names without a prefix. */
function foreignMeta(meta: Record<string, unknown>): Record<string, unknown> {
  const members = Object.entries(meta);
  return Object.fromEntries(members.filter(([name]) => !reservedPrefix.test(name) && !protocolNames.has(name)));
}

const protocolNames = new Set(['progressToken', 'traceparent', 'tracestate', 'baggage']);

/** The same object with these members and no others. */
function picked<Whole extends object>(whole: Whole, names: readonly string[]): Whole {
  const members = Object.entries(whole).filter(([name]) => names.includes(name));
  return Object.fromEntries(members) as Whole; // what is left out is optional in every shape, or no member of it
}
