import { randomBytes } from 'node:crypto';
import { PassThrough } from 'node:stream';
import type { CallReport } from '@countersign/contracts/gateway';
import { createLogger } from '@countersign/service-kit';
import {
  clientOf,
  putMember,
  rowsOf,
  signInAs,
  startTestGateway,
  testConfig,
  testDatabase,
  type Person,
} from './_gateway.ts';
import { until } from '@countersign/testkit/until';
import { Upstream } from './_upstream.ts';

export type Sent = { method?: string; headers?: Record<string, string>; body?: unknown; text?: string };

/** Starts a gateway with a log, a clock and a kernel that the test controls. */
export async function startReportedGateway() {
  const upstream = new Upstream();
  const database = await testDatabase();
  const stream = new PassThrough();
  let logged = '';
  let aheadMs = 0;
  stream.on('data', (line: Buffer) => (logged += line.toString()));
  const variables = { GOV_GOVERNANCE_URL: await upstream.start(), GOV_GATEWAY_HEALTH_PORT: '0', GOV_RUN_WORKERS: '0' };
  const gateway = await startTestGateway(testConfig(database, variables), {
    log: createLogger({ service: 'gateway', stream }),
    now: () => new Date(Date.now() + aheadMs),
  });
  const ada = await signInAs(gateway.url, 'ada@example.org');

  async function send(path: string, { method = 'GET', headers = {}, body, text }: Sent = {}) {
    const requestId = `req-${randomBytes(8).toString('hex')}`;
    const content = text ?? (body === undefined ? null : JSON.stringify(body));
    const type: Record<string, string> = content === null ? {} : { 'content-type': 'application/json' };
    const sent = { method, headers: { 'x-request-id': requestId, ...type, ...headers }, body: content };
    const answer = await fetch(`${gateway.url}${path}`, sent);
    await answer.arrayBuffer();
    return { requestId, status: answer.status };
  }

  const keptOf = (requestId: string) =>
    rowsOf(database, `SELECT id FROM call_reports WHERE request_id = $1 AND ${ofNoTwin}`, [requestId]);

  /** Waits until the report is stored, which happens after the answer. */
  async function reportOf(person: Person, requestId: string): Promise<CallReport & { text: string }> {
    await until(async () => (await keptOf(requestId)).length > 0);
    return (await person.client.getReport({ params: { requestId } })).body;
  }

  return {
    ...{ gateway, database, upstream, ada, send, keptOf, reportOf },
    logged: () => logged,
    setAhead: (ms: number) => (aheadMs = ms),
    metrics: async () => (await fetch(`${gateway.healthUrl}/metrics`)).text(),

    /** Returns the log line of a failed request. */
    loggedOf(requestId: string): Record<string, unknown> {
      const lines = logged.split('\n').filter((line) => line.includes('"call.failed"') && line.includes(requestId));
      const [line, ...more] = lines;
      if (line === undefined || more.length > 0) throw new Error(`${lines.length} lines tell of ${requestId}`);
      return JSON.parse(line) as Record<string, unknown>; // a line of the log is an object
    },

    /** Waits until all earlier reports are stored. */
    async allKept(): Promise<void> {
      await reportOf(ada, (await send('/api/tasks?later=1', { headers: ada.headers })).requestId);
    },

    async memberOf(email: string, role: 'member' | 'partner'): Promise<Person> {
      const member = await signInAs(gateway.url, email);
      await putMember(database, { workspaceId: ada.workspace.id, userId: member.user.id, role });
      const headers = { ...member.headers, 'x-workspace-id': ada.workspace.id };
      return { ...member, headers, client: clientOf(gateway.url, headers) };
    },

    async stop(): Promise<void> {
      await gateway.stop();
      await upstream.stop();
      await database.drop();
    },
  };
}

export type ReportedGateway = Awaited<ReturnType<typeof startReportedGateway>>;

/** Excludes the rows of twins, which no caller created. */
export const ofNoTwin = `created_at < '9000-01-01'`;
