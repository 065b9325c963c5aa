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
import { isObject } from '../../call/governed-call.ts';
import { callTool } from './call-tool.ts';
import { callableTools, type CallableToolsDeps } from './callable-tools.ts';
import type { ToolExecution } from './execute-tool.ts';
import type { ActDeps } from './governed-act.ts';
import { performAct } from './perform-act.ts';
import type { ListedTool, McpGateway } from './gateway.ts';
import { completeArgument, operationOf, readResource } from './operations.ts';
import { addressOfPrompt, publishedPrompt } from './prompt-names.ts';
import { publishedUris, serverOfUri, type OfferedBy } from './resource-uris.ts';
import { toolResult } from './tool-result.ts';
import { parseToolAddress, toolAddress } from '../../registry/tool-definition.ts';

export type OperationsDeps = ActDeps & {
  mcp: Pick<McpGateway, 'listing' | 'offered'>;
  callable: CallableToolsDeps;
};

/**
 * Serves resources, prompts and completion. Each read is decided and sealed as an operation of its server. Lists omit
 * operations that this caller is denied with any arguments.
 */
export function serveOperations(server: Server, deps: OperationsDeps): void {
  server.setRequestHandler('prompts/list', async () => {
    const listed = await listedOperations(deps, 'prompt');
    return { prompts: listed.map(promptOf) };
  });
  server.setRequestHandler('prompts/get', async ({ params: { name, arguments: args = {} } }, context) => {
    const tool = await promptAddress({ ...deps, context }, name);
    const { execution, asks } = await performAct(deps, { tool, args }, context);
    return asks ?? (resultOf(tool, execution) as GetPromptResult); // the receiving client parsed it as such
  });
  server.setRequestHandler('resources/list', async () => {
    const { offers, unread } = await offered(deps, await listedOperations(deps, 'read'));
    return { resources: publishedUris(offers).resources, _meta: notListed(unread) };
  });
  server.setRequestHandler('resources/templates/list', async () => {
    const { offers, unread } = await offered(deps, await listedOperations(deps, 'read'));
    return { resourceTemplates: publishedUris(offers).templates, _meta: notListed(unread) };
  });
  server.setRequestHandler('resources/read', async ({ params: { uri: address } }, context) => {
    const { serverId, uri } = await locateResource({ ...deps, context }, address);
    const tool = toolAddress({ serverId, toolName: readResource });
    const { execution, asks } = await performAct(deps, { tool, args: { uri }, resource: uri }, context);
    return asks ?? (resultOf(address, execution, { uri: address }) as ReadResourceResult); // as above
  });
  server.setRequestHandler('completion/complete', async ({ params }, context) => {
    const { serverId, ref } = await locateReference({ ...deps, context }, params.ref);
    const tool = toolAddress({ serverId, toolName: completeArgument });
    const { argument, context: about } = params;
    const args = { ref, argument, ...(about === undefined ? {} : { context: about }) };
    const { execution } = await performAct(deps, { tool, args }, context);
    return resultOf(tool, execution) as CompleteResult; // as above
  });
}

/** The operations that this caller could call. */
async function listedOperations(
  { mcp, callable, sender: { caller } }: OperationsDeps,
  kind: 'prompt' | 'read',
): Promise<ListedTool[]> {
  const { tools } = await mcp.listing(caller.tenant);
  const { listed } = await callableTools(callable, caller, ofKind(tools, kind));
  return listed;
}

function ofKind(tools: readonly ListedTool[], kind: 'prompt' | 'read'): ListedTool[] {
  return tools.filter(({ tool }) => operationOf(parseToolAddress(tool)?.toolName ?? '').kind === kind);
}

/** Built from the pinned definition, so that a client sees what was approved. */
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

/**
 * The operation of a prompt. An unknown name that begins with a server is decided as a call of that server. Any other
 * unknown name is refused here.
 */
async function promptAddress(deps: InMessage, name: string): Promise<string> {
  const { tools } = await deps.mcp.listing(deps.sender.caller.tenant);
  const address = addressOfPrompt(
    name,
    ofKind(tools, 'prompt').map(({ tool }) => tool),
  );
  if (address === null)
    return await refuseUnknown(deps, { tool: 'mcp.prompts/get', args: { name } }, `No server has the prompt "${name}"`);
  return address;
}

/** The dependencies, with the context of one message. */
type InMessage = OperationsDeps & { context: ServerContext };

/**
 * Decides and seals a request for an unknown object, under a name of the reserved server `mcp`, which nothing
 * executes. The error contains the receipt.
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

async function offered({ mcp, sender: { caller } }: OperationsDeps, readers: readonly ListedTool[]): Promise<Offers> {
  const lists = await Promise.all(
    readers.map(async ({ serverId }) => ({ serverId, offered: await mcp.offered(caller.tenant, serverId) })),
  );
  const offers = lists.flatMap(({ serverId, offered: of }) => (of === null ? [] : [{ serverId, ...of }]));
  return { offers, unread: lists.length - offers.length };
}

/**
 * The server of a resource, whether or not this caller may read it. The boundary decides whether the caller may read
 * it.
 */
export async function locateResource(deps: InMessage, uri: string) {
  const { tools } = await deps.mcp.listing(deps.sender.caller.tenant);
  const { offers } = await offered(deps, ofKind(tools, 'read'));
  const located = serverOfUri(uri, offers);
  if ('problem' in located)
    return await refuseUnknown(deps, { tool: 'mcp.resources/read', args: { uri }, resource: uri }, located.problem);
  return located;
}

type Reference = { type: 'ref/prompt'; name: string } | { type: 'ref/resource'; uri: string };

async function locateReference(deps: InMessage, ref: Reference) {
  if (ref.type === 'ref/resource') {
    const { serverId, uri } = await locateResource(deps, ref.uri);
    return { serverId, ref: { type: ref.type, uri } };
  }
  const address = parseToolAddress(await promptAddress(deps, ref.name));
  const operation = operationOf(address?.toolName ?? '');
  if (address === null || operation.kind !== 'prompt')
    return await refuseUnknown(
      deps,
      { tool: 'mcp.prompts/get', args: { name: ref.name } },
      `No server has the prompt "${ref.name}"`,
    );
  return { serverId: address.serverId, ref: { type: ref.type, name: operation.prompt } };
}

/** These results have no member for a refusal, so a refusal becomes a protocol error with the decision in its data. */
export function resultOf(subject: string, execution: ToolExecution, about: object = {}): object {
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
