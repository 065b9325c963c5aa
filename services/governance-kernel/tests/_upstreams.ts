import { createRequire } from 'node:module';
import { startNoteServer, type NoteServer } from '@countersign/testkit/mcp-server';
import { startScriptedModel, type ScriptedModel } from '@countersign/testkit/scripted-model';
import OpenAI from 'openai';
import { adminKey, startTestKernel, type TestKernel } from './_kernel.ts';

export const upstreamKey = 'upstream-key-that-no-caller-may-see';

/** Reads and reversible writes are allowed, payments need a person, deletion is denied, everything else matches no rule. */
export const toolPolicy = `
format: countersign/policy.v1
name: tools
version: '1'
rules:
  - id: models
    effect: allow
    match: { action: [model.call], resource: [scripted, countersign-scripted-model] }
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

/** A kernel before a scripted model, a note server over HTTP and a process server over stdio. */
export async function startUpstreams(env: Record<string, string> = {}, moreServers: object[] = []): Promise<Upstreams> {
  const model = await startScriptedModel();
  const notes = await startNoteServer();
  const servers = [
    { server_id: 'notes', transport: 'http', url: notes.url, headers: { 'x-notes-key': 'declared-for-notes' } },
    {
      server_id: 'proc',
      transport: 'stdio',
      command: process.execPath,
      args: [processServer],
      env: { DECLARED: 'yes' },
    },
    ...moreServers,
  ];
  const test = await startTestKernel({
    env: {
      GOV_UPSTREAM_URL: model.url,
      GOV_UPSTREAM_API_KEY: upstreamKey,
      GOV_MCP_SERVERS: JSON.stringify({ servers }),
      GOV_MCP_TIMEOUT: '2s',
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

const { resolve } = createRequire(import.meta.url);
const processServer = resolve('@countersign/testkit/process-server.mjs');

/** The entry of the real file-system server of npm. */
export function fileSystemServer(): string {
  return resolve('@modelcontextprotocol/server-filesystem/dist/index.js');
}

export type SealedReceipt = {
  kind: string;
  tool: string | null;
  action: string;
  verdict: string;
  reason_code: string;
  outcome?: string;
  receipt_id: string;
};

/** The receipts of one session, oldest first. */
export async function receiptsOf({ kernel }: TestKernel, session: string): Promise<SealedReceipt[]> {
  const { rows } = await kernel.context.pool.query<{ payload: string }>(
    'SELECT payload FROM ledger WHERE session_id = $1 ORDER BY lamport_clock',
    [session],
  );
  return rows.map(({ payload }) => JSON.parse(payload) as SealedReceipt); // the kernel wrote it
}

/** Decides a pending approval as its approvers would. */
export async function approve({ kernel }: TestKernel, approvalId: string): Promise<void> {
  const { rowCount } = await kernel.context.pool.query(
    `UPDATE approvals SET state = 'approved' WHERE approval_id = $1 AND state = 'pending'`,
    [approvalId],
  );
  if (rowCount !== 1) throw new Error(`${approvalId} is not pending`);
}
