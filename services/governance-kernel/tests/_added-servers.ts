import type { Digest, Instant, ReceiptId } from '@countersign/contracts';
import type { McpServerDetail } from '@countersign/contracts/governance-kernel';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { StartedKernel } from '../src/index.ts';
import { adminKey, clientOf, type KernelClient } from './_kernel.ts';

/** A policy that allows every tool call. */
export const openPolicy = `
format: countersign/policy.v1
name: open
version: '1'
rules:
  - { id: all, effect: allow, match: { action: [tool.call] } }
`;

type Input = { serverId: string; tenant?: string; hash?: Digest; expiresAt?: Instant };

/**
 * Requests approval of a server's current tools as one operator and grants it as another. Returns the request's
 * receipt.
 */
export async function approvalOf(kernel: StartedKernel, input: Input): Promise<{ receipt: ReceiptId; hash: Digest }> {
  const { serverId, tenant = 'acme', expiresAt } = input;
  const client = clientOf(kernel, tenant, 'operator-1');
  const { body: server } = await client.getMcpServer({ params: { server_id: serverId }, query: {} });
  const hash = input.hash ?? server.definitions_hash;
  if (hash === null || server.approval === null) throw new Error('There is nothing to approve');
  const { action } = server.approval;
  const { body: approval } = await client.createApproval({
    query: {},
    body: {
      action,
      resource: `mcp_server:${serverId}?definitions=${hash}`,
      args: expiresAt === undefined ? {} : { expires_at: expiresAt },
      session_id: `approve-${serverId}`,
      reason: 'its tools were read',
    },
  } as never); // the schema brands these strings and fills in the defaults
  await clientOf(kernel, tenant, 'operator-2').transitionApproval({
    params: { approval_id: approval.approval_id, action: 'approve' },
    body: { expected_ceremony_hash: approval.ceremony_hash },
  });
  if (approval.receipt_id === null) throw new Error('The request was not sealed');
  return { receipt: approval.receipt_id, hash };
}

/** Approves a server as operators do: they read it, vote, and approve it with the receipt of the vote. */
export async function approveServerAt(kernel: StartedKernel, input: Input): Promise<McpServerDetail> {
  const { receipt, hash } = await approvalOf(kernel, input);
  const { serverId, tenant = 'acme', expiresAt } = input;
  const { body } = await clientOf(kernel, tenant).approveMcpServer({
    params: { server_id: serverId },
    body: {
      tenant_id: tenant,
      approval_receipt_id: receipt,
      definitions_hash: hash,
      ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
    },
  });
  return body;
}

export async function addServer(client: KernelClient, document: object) {
  const { body } = await client.registerMcpServer({ query: {}, body: document }); // the schema fills in the defaults
  const [server] = body.servers;
  if (server === undefined) throw new Error('No server was added');
  return server;
}

/** An agent's MCP client at /mcp. */
export async function mcpClient(
  kernel: StartedKernel,
  tenant = 'acme',
  headers: Record<string, string> = {},
  pin: '2026-07-28' | '2025-11-25' = '2026-07-28',
) {
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: pin === '2025-11-25' ? ('legacy' as const) : { pin } } },
  );
  const sent = {
    authorization: `Bearer ${adminKey}`,
    'x-gov-tenant-id': tenant,
    'x-gov-session-id': 'added',
    ...headers,
  };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${kernel.url}/mcp`), { requestInit: { headers: sent } }),
  );
  return client;
}

/** The reason code of one call. */
export async function codeOf(client: Client, name: string, args: Record<string, unknown> = {}): Promise<unknown> {
  return (await client.callTool({ name, arguments: args }))._meta?.['countersign/reason_code'];
}

/** The names of the listed tools, and the number of hidden tools per reason. */
export async function listed(client: Client): Promise<{ names: string[]; hidden: Record<string, number> }> {
  const { tools, _meta } = await client.listTools();
  return { names: tools.map(({ name }) => name), hidden: _meta?.['countersign/not_listed'] as Record<string, number> };
}
