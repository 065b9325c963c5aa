import type { PrincipalId } from '@countersign/contracts';
import { createKernelClient, type KernelClient } from '@countersign/contracts/routes';
import { Client as McpClient, StreamableHTTPClientTransport, type CallToolResult } from '@modelcontextprotocol/client';
import OpenAI from 'openai';
import type { StartedSystem } from '../started-system.ts';

const tenant = 'acme';
const agentName = 'demo-agent' as PrincipalId; // within its schema
export const sessionId = 'demo-session';

/** The tools of an agent: unchanged SDKs that point at the boundary. */
export type Agent = {
  openai: OpenAI;
  /** Calls a tool; a refusal is a result, not an exception. */
  callTool(name: string, args: Record<string, unknown>, approvalGrant?: string): Promise<CallToolResult>;
  close(): Promise<void>;
};

/** The operator's view of the kernel, as `principal`. */
export function operatorClient(
  { kernelUrl, adminApiKey }: StartedSystem,
  principal: string,
): ReturnType<KernelClient['as']> {
  return createKernelClient({ baseUrl: kernelUrl, apiKey: adminApiKey }).as({ tenant, principal });
}

/** An agent with a key of its own, which says who it is: its SDKs are told where to go, the key, and which session this is. */
export async function connectAgent(system: StartedSystem): Promise<Agent> {
  const { kernelUrl } = system;
  const { body } = await operatorClient(system, 'alice').createAccessKey({
    body: { kind: 'agent', principal_id: agentName, expires_in_days: 1, doors: ['chat', 'mcp'] },
  });
  const { key } = body;
  const defaultHeaders = { 'x-gov-session-id': sessionId };
  const headers = { authorization: `Bearer ${key}`, ...defaultHeaders };
  const openai = new OpenAI({ baseURL: `${kernelUrl}/v1`, apiKey: key, defaultHeaders, maxRetries: 0 });
  const mcp = new McpClient({ name: agentName, version: '1.0.0' });
  await mcp.connect(new StreamableHTTPClientTransport(new URL(`${kernelUrl}/mcp`), { requestInit: { headers } }));
  return {
    openai,
    callTool: async (name, args, approvalGrant) => {
      const meta = approvalGrant === undefined ? {} : { _meta: { 'countersign/approval_grant': approvalGrant } };
      return await mcp.callTool({ name, arguments: args, ...meta });
    },
    close: () => mcp.close(),
  };
}
