import * as kernel from '@countersign/contracts/governance-kernel';
import { members, type Ask } from './_ask.ts';

type Registry = { headersOf(principal: string): Record<string, string>; path: string; notesUrl: string };

/** Calls the routes of the registry of MCP servers, for the server that `make up` ships. */
export async function askRegistry(ask: Ask, { headersOf, path, notesUrl }: Registry): Promise<void> {
  const params = { server_id: 'files' };
  const named = { server_id: 'files', tool_name: 'read_text_file' };
  await ask(kernel.listMcpServers);
  await ask(kernel.registerMcpServer, { body: { server_id: 'added', url: notesUrl } });
  const added = { server_id: 'added' };
  const { definitions_hash: listed } = await ask(kernel.getMcpServer, { params: added });
  await ask(kernel.compareMcpServerAddress, { params: added, body: { url: notesUrl } });
  const request = { definitions_hash: listed, reason: 'the team writes notes' };
  await ask(kernel.requestMcpServerApproval, { params: added, body: request });
  await ask(kernel.disableMcpServer, { params: added, body: { reason: 'it is not needed' } });
  await ask(kernel.scanMcpServer, { body: params });
  await ask(kernel.authorizeMcpCall, { body: { ...named, args: { path }, session_id: 's1' } });
  await ask(kernel.listGalleryServers);
  await ask(kernel.getOauthProtectedResource, { headers: {} });
  await ask(kernel.putAuthProfile, {
    params: { profile_id: 'p' },
    body: { tenant_id: 'newcomer', servers: ['files'] },
  });
  const granted = await ask(kernel.createSandboxGrant, {
    body: { subject: { tool: 'shell.run' }, expires_in_seconds: 600 },
  });
  const grant = { params: { grant_id: String(granted['grant_id']) } };
  await ask(kernel.listSandboxProfiles);
  await ask(kernel.listSandboxGrants);
  await ask(kernel.getSandboxGrant, grant);
  await ask(kernel.verifySandboxGrant, { ...grant, body: {} });
  await ask(kernel.inspectSandboxGrant, { query: { tool: 'shell.run' } });
  await ask(kernel.preflightSandbox, { body: { tool: 'shell.run', session_id: 's1' } });
  await ask(kernel.listAuthProfiles, { query: { tenant_id: 'newcomer' } });
  await ask(kernel.approveMcpServer, { params, body: await approved(ask, headersOf) });
  await ask(kernel.approveNamedMcpServer, { body: { ...params, ...(await approved(ask, headersOf)) } });
  await ask(kernel.revokeMcpServer, { params, body: { tenant_id: 'acme', reason: 'for a test' } });
  // Runs of the gateway call the server too, in any order of the tests.
  await ask(kernel.approveMcpServer, { params, body: await approved(ask, headersOf) });
}

/** Two people approve the current tool list of the server. */
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
