import { addServer, approvalOf } from './_added-servers.ts';
import type { TestKernel } from './_kernel.ts';
import type { Sample } from './_raw.ts';

/**
 * Sample calls of the server routes: for the declared server, which has two approvals, and for a server of the tenant.
 */
export async function serverSamples(test: TestKernel, notesUrl: string): Promise<Record<string, Sample>> {
  const params = { server_id: 'notes' };
  const approved = async () => {
    const { receipt, hash } = await approvalOf(test.kernel, { serverId: params.server_id });
    return { tenant_id: 'acme', approval_receipt_id: receipt, definitions_hash: hash };
  };
  const shell = { subject: { tool: 'shell.run' }, expires_in_seconds: 60 } as never; // the schema fills in the defaults
  const { grant_id } = (await test.as('acme').createSandboxGrant({ query: {}, body: shell })).body;
  const granted = { grant_id };
  const own = await addServer(test.as('acme', 'operator'), { server_id: 'own', url: notesUrl });
  return {
    'get-mcp-server': { params },
    'compare-mcp-server-address': { params, body: { url: 'https://mcp.example/mcp' } },
    'register-mcp-server': { body: { server_id: 'added', url: 'https://mcp.example/mcp' } },
    'request-mcp-server-approval': {
      params: { server_id: own.server_id },
      body: { definitions_hash: own.definitions_hash, reason: 'for a test' },
    },
    'approve-mcp-server': { params, body: await approved() },
    'approve-named-mcp-server': { body: { ...params, ...(await approved()) } },
    'scan-mcp-server': { body: params },
    'revoke-mcp-server': { params, body: { tenant_id: 'acme', reason: 'for a test' } },
    'disable-mcp-server': { params: { server_id: own.server_id }, body: { reason: 'for a test' } },
    'put-auth-profile': { params: { profile_id: 'p' }, body: { tenant_id: 'newcomer', servers: ['notes'] } },
    'get-sandbox-grant': { params: granted },
    'verify-sandbox-grant': { params: granted, body: {} },
    'inspect-sandbox-grant': { query: { tool: 'shell.run' } },
    'create-sandbox-grant': { body: { subject: { tool: 'shell.another' }, expires_in_seconds: 60 } },
    'list-auth-profiles': { query: { tenant_id: 'newcomer' } },
  };
}
