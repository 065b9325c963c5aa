import type { HiddenTool } from '@countersign/contracts/governance-kernel';
import type { Client, Prompt, RequestOptions, Tool } from '@modelcontextprotocol/client';
import { soundOf } from './sound-tools.ts';

/**
 * The names of the operations of a server. A call of an operation is decided, pinned and sealed like the call of a tool
 * of this name.
 */
export const readResource = 'resources/read';
export const completeArgument = 'completion/complete';
const promptPrefix = 'prompts/';

type Operation = { kind: 'tool' } | { kind: 'read' } | { kind: 'complete' } | { kind: 'prompt'; prompt: string };

/** The operation that a call of this name stands for. */
export function operationOf(toolName: string): Operation {
  switch (toolName) {
    case readResource:
      return { kind: 'read' };
    case completeArgument:
      return { kind: 'complete' };
    default:
      return toolName.startsWith(promptPrefix)
        ? { kind: 'prompt', prompt: toolName.slice(promptPrefix.length) }
        : { kind: 'tool' };
  }
}

export function promptTool(prompt: string): string {
  return promptPrefix + prompt;
}

type Listing = RequestOptions & {
  hide(tool: HiddenTool): void;
  /** Whether the server itself answered with an error. */
  isRefusal(error: unknown): boolean;
};

/**
 * The tools of a server whose names are not reserved, followed by its operations, each as a definition that can be
 * pinned.
 */
export async function withOperations(
  client: Client,
  tools: readonly Tool[],
  { hide, ...options }: Listing,
): Promise<Tool[]> {
  const own = tools.filter(({ name }) => {
    const isFree = operationOf(name).kind === 'tool';
    if (!isFree) hide({ name, problem: 'The name is reserved for an operation of the protocol' });
    return isFree;
  });
  const { resources, prompts, completions } = client.getServerCapabilities() ?? {};
  return [
    ...own,
    ...(resources === undefined ? [] : [operation(readResource, 'Reads one resource of this server.', uriSchema)]),
    ...(completions === undefined
      ? []
      : [operation(completeArgument, 'Suggests values for an argument.', completionSchema)]),
    ...(prompts === undefined ? [] : await listPrompts(client, { hide, ...options })),
  ];
}

/**
 * If the server refuses to list its prompts, only its prompts are hidden, and its tools stay usable. Throws any other
 * error.
 */
async function listPrompts(client: Client, { hide, isRefusal, ...options }: Listing): Promise<Tool[]> {
  try {
    const { prompts } = await client.listPrompts(undefined, { ...options, cacheMode: 'refresh' });
    return soundOf(prompts.map(promptDefinition), hide);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    hide({ name: 'prompts/list', problem: 'The server does not list its prompts' });
    return [];
  }
}

const text = { type: 'string' };
const uriSchema: Tool['inputSchema'] = {
  type: 'object',
  properties: { uri: text },
  required: ['uri'],
  additionalProperties: false,
};
const completionSchema: Tool['inputSchema'] = {
  type: 'object',
  properties: { ref: { type: 'object' }, argument: { type: 'object' }, context: { type: 'object' } },
  required: ['ref', 'argument'],
  additionalProperties: false,
};

/**
 * The protocol defines all operations as reads. The annotation counts only when the operator trusts annotations of the
 * server.
 */
function operation(name: string, description: string, inputSchema: Tool['inputSchema']): Tool {
  return { name, description, inputSchema, annotations: { readOnlyHint: true } };
}

function promptDefinition({ name, description = '', arguments: args = [] }: Prompt): Tool {
  return operation(promptTool(name), description, {
    type: 'object',
    properties: Object.fromEntries(
      args.map((arg) => [
        arg.name,
        { ...text, ...(arg.description === undefined ? {} : { description: arg.description }) },
      ]),
    ),
    required: args.filter(({ required }) => required === true).map(({ name: argument }) => argument),
    additionalProperties: false,
  });
}
