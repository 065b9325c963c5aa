import type {
  CallToolResult,
  ClientCapabilities,
  Client,
  ElicitRequest,
  InputRequiredResult,
  RequestOptions,
  Tool,
} from '@modelcontextprotocol/client';
import { isInputRequiredResult } from '@modelcontextprotocol/server';
import type { PlainJson } from '@countersign/contracts';
import { operationOf } from './operations.ts';
import type { ElicitationModes } from './sending.ts';

/** The answers to a server's requests of the previous round, with the state that the server returned in that round. */
export type Input = { responses: Record<string, PlainJson>; state: string | null };

/** A server's requests to the caller before it continues. */
export type Questions = { requests: Record<string, ElicitRequest>; state: string | null };

/** The result of a call. The result of an operation other than a tool is in `structuredContent`. */
export type ToolResult = CallToolResult & {
  questions?: Questions;
  /** Client capabilities without which the server refuses the call. */
  needs?: ClientCapabilities;
};

/** A server made a request that is not relayed. */
export class RefusedQuestion extends Error {}

type Sent = {
  tool: Pick<Tool, 'name' | 'inputSchema'>;
  args: Record<string, PlainJson>;
  input: Input | null;
  /** The kinds of requests that the caller supports. */
  elicitation: ElicitationModes | null;
};

/** Sends one permitted call by the method that its server knows. Throws the errors of the SDK, and RefusedQuestion. */
export async function sendOperation(
  client: Client,
  { tool, args, input, elicitation }: Sent,
  options: RequestOptions,
): Promise<ToolResult> {
  const operation = operationOf(tool.name);
  const answered =
    input === null
      ? {}
      : { inputResponses: input.responses, ...(input.state === null ? {} : { requestState: input.state }) };
  const terms = { ...options, allowInputRequired: true };
  const request = (method: 'resources/read' | 'prompts/get' | 'completion/complete', params: object) =>
    client.request({ method, params: { ...params, ...answered } }, terms);
  switch (operation.kind) {
    case 'tool': {
      // the server validates these answers, which may have any form
      const params = { name: tool.name, arguments: args, ...answered } as Parameters<Client['callTool']>[0];
      const result = await client.callTool(params, { ...terms, toolDefinition: tool });
      return isInputRequiredResult(result) ? questionsOf(result, elicitation) : result;
    }
    case 'read':
      return carried(await request('resources/read', args), { members: ['contents'], elicitation });
    case 'prompt':
      return carried(await request('prompts/get', { name: operation.prompt, arguments: args }), {
        members: ['description', 'messages'],
        elicitation,
      });
    case 'complete':
      return carried(await request('completion/complete', args), { members: ['completion'], elicitation });
  }
}

/** The limit for the state, which a client echoes in each round. */
const stateLengthMax = 32_768;

/** A person fills in the form of a question. */
const questionLengthMax = 65_536;

type Carried = { members: readonly string[]; elicitation: ElicitationModes | null };

function carried(result: object, { members, elicitation }: Carried): ToolResult {
  if (isInputRequiredResult(result)) return questionsOf(result, elicitation);
  const kept = Object.entries(result).filter(([name]) => members.includes(name));
  return { content: [], structuredContent: Object.fromEntries(kept) };
}

/** Only forms and URLs are relayed. A server must not use the caller's model and folders. */
function questionsOf(
  { inputRequests = {}, requestState }: InputRequiredResult,
  modes: ElicitationModes | null,
): ToolResult {
  if (modes === null) throw new RefusedQuestion('The server asked for more input instead of answering');
  const requests: Record<string, ElicitRequest> = {};
  for (const [key, question] of Object.entries(inputRequests)) {
    if (question.method !== 'elicitation/create')
      throw new RefusedQuestion(`The server asked for ${question.method}, which Countersign does not relay`);
    if (JSON.stringify(question).length > questionLengthMax)
      throw new RefusedQuestion('The server asked a question that is too long to be relayed');
    const refusal = refusalOf(question, modes);
    if (refusal !== null) throw new RefusedQuestion(refusal);
    requests[key] = question;
  }
  if ((requestState?.length ?? 0) > stateLengthMax)
    throw new RefusedQuestion('The server asked for input with a state that is too long to be relayed');
  if (Object.keys(requests).length === 0 && requestState === undefined)
    throw new RefusedQuestion('The server asked for input but sent no request for it');
  return {
    content: [{ type: 'text', text: 'The server asks for input before it goes on.' }],
    structuredContent: { requests },
    questions: { requests, state: requestState ?? null },
  };
}

function refusalOf({ params }: ElicitRequest, modes: ElicitationModes): string | null {
  if (params.mode !== 'url')
    return modes.form === undefined ? 'The server asked for a form, which the client did not declare' : null;
  if (modes.url === undefined) return 'The server asked to open a page, which the client did not declare';
  const url = URL.canParse(params.url) ? new URL(params.url) : null;
  if (url === null || !['https:', 'http:'].includes(url.protocol))
    return 'The server asked to open an address that is not a web page';
  // A user name before the host looks like the host.
  return url.username === '' && url.password === ''
    ? null
    : 'The server asked to open an address that contains a user name';
}
