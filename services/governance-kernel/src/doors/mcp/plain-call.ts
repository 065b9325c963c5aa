import type { IncomingHttpHeaders } from 'node:http';
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  isSpecType,
  LOG_LEVEL_META_KEY,
  MissingRequiredClientCapabilityError,
  PROTOCOL_VERSION_META_KEY,
  ProtocolError,
  SERVER_INFO_META_KEY,
  specTypeSchemas,
  type ClientCapabilities,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { callTool, type Sender } from './call-tool.ts';
import type { ToolExecutor } from './execute-tool.ts';
import { searchToolName } from './search-tools.ts';
import { requireDeclared } from './require-declared.ts';
import { mcpServerInfo } from './server-info.ts';
import { toolResult } from './tool-result.ts';

/** The protocol version with self-contained requests: no session, no stream, and all parameters in one message. */
const revision = '2026-07-28';

/** A client that supports elicitation may get questions instead of a result. The SDK's server handles such clients. */
const asksNothing = (capabilities: unknown) =>
  isSpecType.ClientCapabilities(capabilities) && capabilities.elicitation === undefined;

const PlainCall = z.strictObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.int()]),
  method: z.literal('tools/call'),
  params: z.strictObject({
    name: z.string(),
    arguments: z.record(z.string(), z.unknown()).optional(),
    _meta: z.looseObject({
      [PROTOCOL_VERSION_META_KEY]: z.literal(revision),
      [CLIENT_CAPABILITIES_META_KEY]: z.custom<ClientCapabilities>(asksNothing),
      [CLIENT_INFO_META_KEY]: z.custom(isSpecType.Implementation).optional(),
      [LOG_LEVEL_META_KEY]: z.undefined().optional(),
      progressToken: z.undefined().optional(),
    }),
  }),
});
type PlainCall = z.infer<typeof PlainCall>;

/**
 * The most frequent request of agents: a complete and unambiguous `tools/call`, with matching headers. `null` for every
 * other message, which the SDK's server answers or refuses.
 */
export function plainCallOf(headers: IncomingHttpHeaders, body: unknown): PlainCall | null {
  if (headers['mcp-protocol-version'] !== revision || headers['mcp-method'] !== 'tools/call') return null;
  const call = PlainCall.safeParse(body);
  if (!call.success || call.data.params.name !== headers['mcp-name']) return null;
  if (call.data.params.name === searchToolName) return null;
  return isSpecType.CallToolRequest(call.data) ? call.data : null;
}

type PlainAnswer = { status: number; text: string };

/** The JSON-RPC answer to a plain call, as text. */
export async function answerPlainCall(
  executor: ToolExecutor,
  sender: Sender,
  { call, signal }: { call: PlainCall; signal: AbortSignal },
): Promise<PlainAnswer> {
  const { name, arguments: args = {}, _meta: meta } = call.params;
  try {
    const execution = await callTool(executor, sender, { name, args, meta, signal });
    requireDeclared(execution, meta[CLIENT_CAPABILITIES_META_KEY]);
    const result = completed(toolResult(name, execution));
    return { status: 200, text: JSON.stringify({ result, jsonrpc: '2.0', id: call.id }) };
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    const { code, message, data } = error;
    const status = error instanceof MissingRequiredClientCapabilityError ? 400 : 200;
    return { status, text: JSON.stringify({ jsonrpc: '2.0', id: call.id, error: { code, message, data } }) };
  }
}

/** Completes the result of an upstream to the form of this protocol version. */
function completed(result: object): object {
  const parsed = specTypeSchemas.CallToolResult['~standard'].validate(result);
  if (parsed instanceof Promise || parsed.issues !== undefined)
    throw new ProtocolError(-32_602, 'Invalid tools/call result');
  const meta = { ...parsed.value._meta, [SERVER_INFO_META_KEY]: mcpServerInfo };
  return { ...parsed.value, resultType: 'complete', _meta: meta };
}
