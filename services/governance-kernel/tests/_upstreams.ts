import { createRequire } from 'node:module';
import { startNoteServer, type NoteServer } from '@countersign/testkit/mcp-server';
import { startScriptedModel, type ScriptedModel } from '@countersign/testkit/scripted-model';
import OpenAI from 'openai';
import type { KernelOverrides } from '../src/index.ts';
import { adminKey, startTestKernel, type TestKernel, type TestKernelOptions } from './_kernel.ts';
import { startScriptedMcp } from './_scripted-mcp.ts';

export const upstreamKey = 'upstream-key-that-no-caller-may-see';

/**
 * Allows calls of three models, reads, reversible writes and `lookup`. Requires an approval for payments and denies
 * deletion. No rule matches other calls.
 */
export const toolPolicy = `
format: countersign/policy.v1
name: tools
version: '1'
rules:
  - id: models
    effect: allow
    match: { action: [model.call], resource: [scripted, countersign-scripted-model, large] }
  - id: reads
    effect: allow
    match: { action: [tool.call], effect_level: [E0, E1, E2] }
  - id: payments
    effect: escalate
    match: { action: [tool.call], tool: [notes.pay, pay] }
    reason: A person confirms payments.
  - id: no-deletion
    effect: deny
    match: { action: [tool.call], tool: [notes.delete_note] }
    reason: Deletion is not for agents.
  - id: own-functions
    effect: allow
    match: { action: [tool.call], tool: [lookup] }
`;

export type Upstreams = {
  test: TestKernel;
  model: ScriptedModel;
  notes: NoteServer;
  openai: (options?: OpenAiOptions) => OpenAI;
  close(): Promise<void>;
};
export type OpenAiOptions = { tenant?: string; headers?: Record<string, string> };

/** A kernel whose upstreams are a scripted model and a note server over HTTP. */
export async function startUpstreams(
  env: Record<string, string> = {},
  moreServers: object[] = [],
  { contradicted, ...overrides }: KernelOverrides & Pick<TestKernelOptions, 'contradicted'> = {},
): Promise<Upstreams> {
  const model = await startScriptedModel();
  const notes = await startNoteServer();
  const servers = [
    {
      server_id: 'notes',
      transport: 'http',
      trust_annotations: true,
      url: notes.url,
      headers: { 'x-notes-key': 'declared-for-notes' },
    },
    ...moreServers,
  ];
  const test = await startTestKernel({
    overrides,
    contradicted,
    env: {
      GOV_UPSTREAM_URL: model.url,
      GOV_UPSTREAM_API_KEY: upstreamKey,
      GOV_MCP_SERVERS: JSON.stringify({ servers }),
      GOV_MCP_TIMEOUT: '10s',
      GOV_MCP_LIST_MAX_AGE: '0',
      ...env,
    },
  });
  await test.activate('*', toolPolicy);
  return {
    test,
    model,
    notes,
    openai: ({ tenant = 'acme', headers = {} } = {}) =>
      new OpenAI({
        apiKey: adminKey,
        baseURL: `${test.kernel.url}/v1`,
        maxRetries: 0,
        defaultHeaders: { 'X-Gov-Tenant-ID': tenant, ...headers },
      }),
    close: async () => {
      await test.close();
      await Promise.all([model.close(), notes.close()]);
    },
  };
}

/** The same kernel with further upstreams: a scripted MCP server with one tool, and the servers in `more`. */
export async function startScripted({ more = [] }: { more?: object[] } = {}) {
  const scripted = await startScriptedMcp({ annotations: { readOnlyHint: true } });
  const server = { server_id: 'scripted', transport: 'http', trust_annotations: true, url: scripted.url };
  const upstreams = await startUpstreams({}, [server, ...more]);
  const close = async () => {
    await upstreams.close();
    await scripted.close();
  };
  return { scripted, upstreams, close };
}

const { resolve } = createRequire(import.meta.url);
/** An MCP server over stdio whose tools show and end its process. A kernel with this server takes longer to start. */
export const processServer = {
  server_id: 'proc',
  trust_annotations: true,
  transport: 'stdio',
  command: process.execPath,
  args: [resolve('@countersign/testkit/process-server.mjs')],
  env: { DECLARED: 'yes' },
};

/** The program of the real `server-filesystem` from npm. */
export function fileSystemServer(): string {
  return resolve('@modelcontextprotocol/server-filesystem/dist/index.js');
}

export type SealedReceipt = {
  kind: string;
  tool: string | null;
  resource: string | null;
  action: string;
  verdict: string;
  reason_code: string;
  outcome?: string;
  receipt_id: string;
};

/** The receipts of one session, oldest first. */
export async function receiptsOf({ pool }: TestKernel, session: string): Promise<SealedReceipt[]> {
  const { rows } = await pool.query<{ payload: string }>(
    'SELECT payload FROM ledger WHERE session_id = $1 ORDER BY lamport_clock',
    [session],
  );
  return rows.map(({ payload }) => JSON.parse(payload) as SealedReceipt); // written by the kernel
}

/** Approves a pending approval as a person who is not its requester. */
export async function approve(test: TestKernel, approvalId: string): Promise<void> {
  const approver = test.as('acme', 'approver');
  const { body } = await approver.listApprovals({ query: { state: 'pending' } });
  const approval = body.data.find(({ approval_id }) => approval_id === approvalId);
  if (approval === undefined) throw new Error(`${approvalId} is not pending`);
  await approver.transitionApproval({
    params: { approval_id: approval.approval_id, action: 'approve' },
    body: { expected_ceremony_hash: approval.ceremony_hash },
  });
}
