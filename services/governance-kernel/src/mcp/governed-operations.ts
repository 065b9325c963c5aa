import {
  ProtocolError,
  ProtocolErrorCode,
  type CompleteResult,
  type GetPromptResult,
  type Prompt,
  type ReadResourceResult,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { isObject } from '../call/governed-call.ts';
import { callTool } from './call-tool.ts';
import { callableTools, type CallableToolsParts } from './callable-tools.ts';
import type { ToolExecution } from './execute-tool.ts';
import { performAct, type ActParts } from './governed-act.ts';
import type { ListedTool, McpGateway } from './gateway.ts';
import { completeArgument, operationOf, readResource } from './operations.ts';
import { addressOfPrompt, publishedPrompt } from './prompt-names.ts';
import { publishedUris, serverOfUri, type OfferedBy } from './resource-uris.ts';
import { toolResult } from './tool-result.ts';
import { parseToolAddress, toolAddress } from '../registry/tool-definition.ts';

type OperationsParts = ActParts & {
  mcp: Pick<McpGateway, 'listing' | 'offered'>;
  callable: CallableToolsParts;
};

/** Resources, prompts and completion. Each read is decided and sealed as the operation of its server; lists hold what may be read. */
export function serveOperations(server: Server, parts: OperationsParts): void {
  server.setRequestHandler('prompts/list', async () => {
    const listed = await listedOperations(parts, 'prompt');
    return { prompts: listed.map(promptOf) };
  });
  server.setRequestHandler('prompts/get', async ({ params: { name, arguments: args = {} } }, context) => {
    const tool = await promptAddress({ ...parts, context }, name);
    const { execution, asks } = await performAct(parts, { tool, args }, context);
    return asks ?? (resultOf(tool, execution) as GetPromptResult); // the client that received it parsed it as one
  });
  server.setRequestHandler('resources/list', async () => {
    const { offers, unread } = await offered(parts, await listedOperations(parts, 'read'));
    return { resources: publishedUris(offers).resources, _meta: notListed(unread) };
  });
  server.setRequestHandler('resources/templates/list', async () => {
    const { offers, unread } = await offered(parts, await listedOperations(parts, 'read'));
    return { resourceTemplates: publishedUris(offers).templates, _meta: notListed(unread) };
  });
  server.setRequestHandler('resources/read', async ({ params: { uri: given } }, context) => {
    const { serverId, uri } = await locate({ ...parts, context }, given);
    const tool = toolAddress({ serverId, toolName: readResource });
    const { execution, asks } = await performAct(parts, { tool, args: { uri }, resource: uri }, context);
    return asks ?? (resultOf(given, execution, { uri: given }) as ReadResourceResult); // as above
  });
  server.setRequestHandler('completion/complete', async ({ params }, context) => {
    const { serverId, ref } = await locateReference({ ...parts, context }, params.ref);
    const tool = toolAddress({ serverId, toolName: completeArgument });
    const { argument, context: about } = params;
    const args = { ref, argument, ...(about === undefined ? {} : { context: about }) };
    const { execution } = await performAct(parts, { tool, args }, context);
    return resultOf(tool, execution) as CompleteResult; // as above
  });
}

/** Those that this caller could call. */
async function listedOperations(
  { mcp, callable, sender: { caller } }: OperationsParts,
  kind: 'prompt' | 'read',
): Promise<ListedTool[]> {
  const { tools } = await mcp.listing(caller.tenant);
  const { listed } = await callableTools(callable, caller, ofKind(tools, kind));
  return listed;
}

function ofKind(tools: readonly ListedTool[], kind: 'prompt' | 'read'): ListedTool[] {
  return tools.filter(({ tool }) => operationOf(parseToolAddress(tool)?.toolName ?? '').kind === kind);
}

/** Made of the pinned definition, so that a client sees what was approved. */
function promptOf({ tool, definition: { description, inputSchema } }: ListedTool): Prompt {
  const required = new Set(inputSchema.required);
  const args = Object.entries(inputSchema.properties ?? {}).map(([name, property]) => ({
    name,
    required: required.has(name),
    ...describedBy(property),
  }));
  return {
    name: publishedPrompt(tool),
    ...(description === undefined || description === '' ? {} : { description }),
    ...(args.length === 0 ? {} : { arguments: args }),
  };
}

function describedBy(property: unknown): { description?: string } {
  const description = isObject(property) ? property['description'] : undefined;
  return typeof description === 'string' ? { description } : {};
}

/** A name of no prompt goes to the boundary as it is written, if it names a server. */
async function promptAddress(parts: InMessage, name: string): Promise<string> {
  const { tools } = await parts.mcp.listing(parts.sender.caller.tenant);
  const address = addressOfPrompt(
    name,
    ofKind(tools, 'prompt').map(({ tool }) => tool),
  );
  if (address === null)
    return await refuseUnknown(
      parts,
      { tool: 'mcp.prompts/get', args: { name } },
      `No server has the prompt "${name}"`,
    );
  return address;
}

/** One message of a client. */
type InMessage = OperationsParts & { context: ServerContext };

/**
 * Decides and seals a request for what no server has, under a name of the reserved server `mcp`, which nothing executes. The error names the
 * receipt.
 */
async function refuseUnknown(
  { executor, sender, context: { mcpReq } }: InMessage,
  { tool, args, resource }: { tool: string; args: Record<string, unknown>; resource?: string },
  problem: string,
): Promise<never> {
  const { signal, _meta: meta = {} } = mcpReq;
  const execution = await callTool(executor, sender, { name: tool, args, resource, meta, signal });
  const { _meta } = toolResult(tool, execution);
  const about = resource === undefined ? {} : { uri: resource };
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, problem, { ...about, ..._meta });
}

type Offers = { offers: OfferedBy[]; unread: number };

async function offered({ mcp, sender: { caller } }: OperationsParts, readers: readonly ListedTool[]): Promise<Offers> {
  const asked = await Promise.all(
    readers.map(async ({ serverId }) => ({ serverId, offered: await mcp.offered(caller.tenant, serverId) })),
  );
  const offers = asked.flatMap(({ serverId, offered: of }) => (of === null ? [] : [{ serverId, ...of }]));
  return { offers, unread: asked.length - offers.length };
}

/** The server of a resource, whether this caller may read it or not: a refusal is the boundary's. */
async function locate(parts: InMessage, uri: string) {
  const { tools } = await parts.mcp.listing(parts.sender.caller.tenant);
  const { offers } = await offered(parts, ofKind(tools, 'read'));
  const located = serverOfUri(uri, offers);
  if ('problem' in located)
    return await refuseUnknown(parts, { tool: 'mcp.resources/read', args: { uri }, resource: uri }, located.problem);
  return located;
}

type Reference = { type: 'ref/prompt'; name: string } | { type: 'ref/resource'; uri: string };

async function locateReference(parts: InMessage, ref: Reference) {
  if (ref.type === 'ref/resource') {
    const { serverId, uri } = await locate(parts, ref.uri);
    return { serverId, ref: { type: ref.type, uri } };
  }
  const address = parseToolAddress(await promptAddress(parts, ref.name));
  const operation = operationOf(address?.toolName ?? '');
  if (address === null || operation.kind !== 'prompt')
    return await refuseUnknown(
      parts,
      { tool: 'mcp.prompts/get', args: { name: ref.name } },
      `No server has the prompt "${ref.name}"`,
    );
  return { serverId: address.serverId, ref: { type: ref.type, name: operation.prompt } };
}

/** These results have no member for a refusal, so it is an error of the protocol, with the decision in its data. */
function resultOf(subject: string, execution: ToolExecution, about: object = {}): object {
  const { isError, content, structuredContent, _meta } = toolResult(subject, execution);
  if (isError !== true && isObject(structuredContent)) return { ...structuredContent, _meta };
  const [first] = content;
  const text = first?.type === 'text' ? first.text : 'The call failed';
  throw new ProtocolError(codeOf(execution), text, { ...about, ..._meta });
}

function codeOf(execution: ToolExecution): ProtocolErrorCode {
  if (execution.kind === 'refused') return ProtocolErrorCode.InvalidRequest;
  return execution.kind === 'performed' && execution.outcome === 'failed'
    ? ProtocolErrorCode.InvalidParams
    : ProtocolErrorCode.InternalError;
}

function notListed(server: number) {
  return { 'countersign/not_listed': { server, total: server } };
}
