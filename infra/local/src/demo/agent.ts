import type { PrincipalId } from '@countersign/contracts';
import { createKernelClient, type KernelClient } from '@countersign/contracts/routes';
import { Client as McpClient, StreamableHTTPClientTransport, type CallToolResult } from '@modelcontextprotocol/client';
import OpenAI from 'openai';
import type { StartedSystem } from '../started-system.ts';

const tenant = 'acme';
const agentName = 'demo-agent' as PrincipalId; // matches its schema
export const sessionId = 'demo-session';

/** The clients of an agent: unchanged SDKs with the address of the boundary. */
export type Agent = {
  openai: OpenAI;
  /** Calls a tool. A refusal is returned as a result, not thrown. */
  callTool(name: string, args: Record<string, unknown>, approvalGrant?: string): Promise<CallToolResult>;
  close(): Promise<void>;
};

/** A client of the operator API for `principal`. */
export function operatorClient(
  { kernelUrl, adminApiKey }: StartedSystem,
  principal: string,
): ReturnType<KernelClient['as']> {
  return createKernelClient({ baseUrl: kernelUrl, apiKey: adminApiKey }).as({ tenant, principal });
}

/** An agent with its own access key. Its SDKs get the address, the key and the session. */
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
