import * as kernel from '@countersign/contracts/governance-kernel';
import { members, type Ask } from './_ask.ts';

type Registry = { headersOf(principal: string): Record<string, string>; path: string };

/** Asks the routes of the registry of MCP servers about the server that `make up` ships. */
export async function askRegistry(ask: Ask, { headersOf, path }: Registry): Promise<void> {
  const params = { server_id: 'files' };
  const named = { server_id: 'files', tool_name: 'read_text_file' };
  await ask(kernel.listMcpServers);
  await ask(kernel.registerMcpServer, { body: { server_id: 'added', url: 'https://mcp.example/mcp' } });
  await ask(kernel.scanMcpServer, { body: params });
  await ask(kernel.authorizeMcpCall, { body: { ...named, args: { path }, session_id: 's1' } });
  await ask(kernel.listGalleryServers);
  await ask(kernel.getOauthProtectedResource, { headers: {} });
  await ask(kernel.putAuthProfile, {
    params: { profile_id: 'p' },
    body: { tenant_id: 'newcomer', servers: ['files'] },
  });
  await ask(kernel.listAuthProfiles, { query: { tenant_id: 'newcomer' } });
  await ask(kernel.approveMcpServer, { params, body: await approved(ask, headersOf) });
  await ask(kernel.approveNamedMcpServer, { body: { ...params, ...(await approved(ask, headersOf)) } });
  await ask(kernel.revokeMcpServer, { params, body: { tenant_id: 'acme', reason: 'for a test' } });
}

/** Two people agree on what the server lists now. */
async function approved(ask: Ask, headersOf: Registry['headersOf']): Promise<object> {
  const server = await ask(kernel.getMcpServer, { params: { server_id: 'files' } });
  const hash = server['definitions_hash'];
  const approval = await ask(kernel.createApproval, {
    body: {
      action: members(server['approval'])['action'],
      resource: `mcp_server:files?definitions=${String(hash)}`,
      session_id: 'approve-files',
      reason: 'its tools were read',
    },
  });
  await ask(kernel.transitionApproval, {
    params: { approval_id: String(approval['approval_id']), action: 'approve' },
    body: {},
    headers: { ...headersOf('bob'), 'if-match': `"${String(approval['ceremony_hash'])}"` },
  });
  return { tenant_id: 'acme', approval_receipt_id: approval['receipt_id'], definitions_hash: hash };
}
