import { createClient, type Client } from '@countersign/contracts';
import * as kernel from '@countersign/contracts/governance-kernel';
import { Client as McpClient, StreamableHTTPClientTransport, type CallToolResult } from '@modelcontextprotocol/client';
import OpenAI from 'openai';
import type { StartedSystem } from '../started-system.ts';

export const tenant = 'acme';
export const agentName = 'demo-agent';
export const sessionId = 'demo-session';

const operations = {
  listReceipts: kernel.listReceipts,
  exportReceipts: kernel.exportReceipts,
  listTrustKeys: kernel.listTrustKeys,
  listApprovals: kernel.listApprovals,
  transitionApproval: kernel.transitionApproval,
  putBudget: kernel.putBudget,
};

/** What an agent has in its hands: unchanged SDKs that point at the boundary. */
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
): Client<typeof operations> {
  return createClient(operations, { baseUrl: kernelUrl, headers: () => headersOf(adminApiKey, principal) });
}

export async function connectAgent({ kernelUrl, adminApiKey }: StartedSystem): Promise<Agent> {
  const headers = { ...headersOf(adminApiKey, agentName), 'x-gov-session-id': sessionId };
  const { authorization: _authorization, ...defaultHeaders } = headers;
  const openai = new OpenAI({ baseURL: `${kernelUrl}/v1`, apiKey: adminApiKey, defaultHeaders, maxRetries: 0 });
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

function headersOf(adminApiKey: string, principal: string) {
  return { authorization: `Bearer ${adminApiKey}`, 'x-gov-tenant-id': tenant, 'x-gov-principal-id': principal };
}
