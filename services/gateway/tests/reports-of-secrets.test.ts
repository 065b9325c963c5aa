import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { rowsOf } from './_gateway.ts';
import { startReportedGateway, type ReportedGateway, type Sent } from './_reports.ts';

let reported: ReportedGateway;

beforeAll(async () => {
  reported = await startReportedGateway();
});

afterAll(() => reported?.stop());

const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('a value from a caller', () => {
  /** Returns all reports of failed calls, as every reader receives them. */
  async function everythingTold(): Promise<string> {
    const rows = await rowsOf<{ row: string }>(reported.database, 'SELECT r::text AS row FROM call_reports r');
    const { client } = reported.ada;
    const { body: listed } = await client.listReports({ query: { limit: 200 } });
    const texts = await Promise.all(
      listed.data.map(async ({ requestId }) => (await client.getReport({ params: { requestId } })).body.text),
    );
    const messages = [...rows.map(({ row }) => row), JSON.stringify(listed), ...texts];
    return [reported.logged(), ...messages, await reported.metrics()].join('\n');
  }

  verifies('gw.report', 'is in no report, row or log line, wherever it was sent', async () => {
    const { ada, upstream } = reported;
    const used: string[] = [];
    const secret = (place: string) => {
      const made = `S3CRET-${place}-${randomBytes(6).toString('hex')}`;
      used.push(made);
      return made;
    };
    const nested = (levels: number, inner: unknown): unknown =>
      levels === 0 ? inner : { [secret('name')]: nested(levels - 1, inner) };
    const { body: key } = await ada.client.createApiKey({
      body: { name: 'both', role: 'member', scopes: ['read', 'write', 'agent'], expiresInDays: 1 },
    });
    used.push(key.key.slice(9), ada.token.slice(3));
    upstream.answer = (_req, res) => {
      const shape = { members: [{ path: secret('told'), type: 'string', size: 1 }], unknownMembers: 0, isCut: false };
      const query = { state: 'read', ...shape };
      const report = { error_code: 'INVALID_REQUEST', reason_code: null, decision_id: null, caller: null, query };
      res.writeHead(422, {
        'x-gov-decision-id': secret('decision'),
        'x-gov-reason-code': secret('reason'),
        'x-told-request': base64url({ ...report, body: { ...query, contentType: secret('type'), bytes: 1 } }),
      });
      res.end(secret('answer'));
    };
    const callers: Record<string, string>[] = [
      ada.headers,
      { 'x-api-key': key.key },
      {},
      { 'x-workspace-id': ada.workspace.id },
    ];
    const everywhere = () => ({
      cookie: `session=${secret('cookie')}`,
      'x-other': secret('header'),
      'idempotency-key': secret('idempotency'),
      'if-match': secret('etag'),
      referer: `http://127.0.0.1/${secret('referer')}`,
      'user-agent': secret('agent'),
      tracestate: `a=${secret('trace')}`,
    });
    const json = (body: unknown): Sent => ({ method: 'POST', body });
    const calls: [() => string, () => Sent][] = [
      [() => `/api/tasks?title=${secret('value')}`, () => ({})],
      [() => `/api/tasks?${secret('name')}=1&status=${secret('value')}`, () => ({})],
      [() => `/api/tasks?status=a&status=${secret('twice')}`, () => ({})],
      [() => `/api/tasks?workspaceId=${secret('workspace')}`, () => ({})],
      [() => `/api/tasks?cursor=${secret('cursor')}`, () => ({})],
      [() => `/api/tasks/${secret('id')}`, () => ({})],
      [() => `/api/tasks/${secret('id')}/run`, () => json({})],
      [() => `/api/capabilities/${secret('key')}`, () => ({})],
      [() => `/api/reports/${secret('request')}`, () => ({})],
      [() => `/${secret('path')}/${secret('path')}?${secret('name')}=${secret('value')}`, () => ({})],
      [() => `/api/tasks/${secret('method')}`, () => ({ method: 'PATCH' })],
      [() => `/api/%zz${secret('encoding')}`, () => ({})],
      [() => '/api/tasks', () => json({ title: secret('value').repeat(20), description: secret('value') })],
      [() => '/api/tasks', () => json({ title: [secret('value')], [secret('name')]: secret('value') })],
      [() => '/api/tasks', () => json({ title: nested(8, secret('deep')), description: nested(3, [secret('deep')]) })],
      [() => '/api/tasks', () => json(nested(20, secret('deep')))],
      [() => '/api/tasks', () => json([secret('item'), { title: secret('item') }])],
      [() => '/api/tasks', () => json(secret('text'))],
      [() => '/api/tasks', () => json({ title: 'x', workspaceId: secret('workspace') })],
      [() => '/api/tasks', () => ({ method: 'POST', text: `{"title":"${secret('broken')}` })],
      [() => '/api/tasks', () => ({ method: 'POST', text: `{"${secret('twice')}":1,"a":1,"a":"${secret('twice')}"}` })],
      [() => '/api/tasks', () => ({ ...json({}), headers: { 'content-type': `application/${secret('type')}` } })],
      [() => '/api/auth/email/request', () => json({ email: secret('email') })],
      [() => '/api/auth/email/verify', () => json({ email: 'ada@example.org', code: secret('code') })],
      [
        () => `/api/workspace/${ada.workspace.id}/settings`,
        () => ({ method: 'PUT', body: { modelConfig: { model: nested(2, secret('x')) } } }),
      ],
      [
        () => '/v1/chat/completions',
        () => json({ model: secret('model'), [secret('name')]: nested(4, secret('deep')) }),
      ],
      [() => `/mcp?${secret('name')}=${secret('value')}`, () => json({ method: secret('method') })],
      [() => '/api/v1/evaluate', () => json({ context: nested(4, secret('deep')) })],
      [
        () => '/api/tasks',
        () => ({ headers: { authorization: `Basic ${Buffer.from(`a:${secret('basic')}`).toString('base64')}` } }),
      ],
      [() => '/api/tasks', () => ({ headers: { authorization: `Bearer ${secret('bearer')}` } })],
      [() => '/api/tasks', () => ({ headers: { authorization: `Bearer agk_${secret('bearer')}` } })],
      [
        () => '/api/tasks',
        () => ({ headers: { 'x-api-key': `hp_${secret('key')}`, 'x-workspace-id': secret('workspace') } }),
      ],
      [() => '/api/tasks?odd=1', () => ({ headers: { 'x-request-id': `hp_${secret('id')}` } })],
    ];
    let failed = 0;
    for (const caller of callers) {
      for (const [path, sent] of calls) {
        const { headers, ...rest } = sent();
        const { status } = await reported.send(path(), {
          ...rest,
          headers: { ...everywhere(), ...caller, ...headers },
        });
        failed += Number(status >= 400);
      }
    }
    expect(failed).toBeGreaterThan(callers.length * calls.length * 0.9);
    await reported.allKept();
    const message = await everythingTold();
    expect(message.match(/"call.failed"/g)?.length).toBeGreaterThan(failed - 1);
    expect(used.length).toBeGreaterThan(1_000);
    // Case is ignored, because names such as types are reported in lower case.
    const toldLow = message.toLowerCase();
    expect(used.filter((value) => toldLow.includes(value.toLowerCase()))).toEqual([]);
    expect(used.filter((value) => message.includes(Buffer.from(value).toString('base64').slice(4, 24)))).toEqual([]);
  });
});
