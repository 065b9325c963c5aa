import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ErrorEnvelope } from '@countersign/contracts';
import supertest from 'supertest';
import { adminKey, starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';

const console = 'https://console.example.org';

let test: TestKernel;
beforeAll(async () => {
  test = await startTestKernel({ env: { GOV_ALLOWED_ORIGINS: console, GOV_PUBLIC_URL: 'https://kernel.example' } });
  await test.activate('*', starterPolicy);
});
afterAll(() => test.close());

const door = () => supertest(test.kernel.url);
const credentials = { authorization: `Bearer ${adminKey}`, 'x-gov-tenant-id': 'acme' };
const read = { action: 'tool.call', tool: 'files.read', effect_level: 'E1', session_id: 'door' };

describe('the HTTP interface of the kernel', () => {
  it('allows calls with credentials from pages of an allowed origin', async () => {
    const preflight = await door()
      .options('/api/v1/evaluate')
      .set({
        origin: console,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization',
      })
      .expect(204);
    expect(preflight.headers).toMatchObject({ 'access-control-allow-origin': console });
    const decided = await door()
      .post('/api/v1/evaluate')
      .set({ ...credentials, origin: console })
      .send(read)
      .expect(200);
    expect(decided.headers).toMatchObject({ 'access-control-allow-origin': console });
  });

  it('refuses pages of any other origin, without CORS headers', async () => {
    const stranger = { origin: 'https://console.example.org.evil.example' };
    const preflight = await door()
      .options('/api/v1/evaluate')
      .set({ ...stranger, 'access-control-request-method': 'POST' });
    expect(preflight.headers).not.toHaveProperty('access-control-allow-origin');
    const answer = await door()
      .get('/api/v1/receipts')
      .set({ ...credentials, ...stranger });
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
    expect([preflight.status, answer.status]).toEqual([403, 403]);
  });

  it('refuses a rebound host name and foreign origins on both ports', async () => {
    const { url, healthUrl } = test.kernel;
    const doors: [string, 'GET' | 'POST', string][] = [
      ...(['/', '/healthz', '/health/ready', '/no/such/path'] as const).flatMap((path): [string, 'GET', string][] => [
        [url, 'GET', path],
        [healthUrl, 'GET', path],
      ]),
      [url, 'POST', '/api/v1/evaluate'],
      [url, 'POST', '/v1/chat/completions'],
      [url, 'POST', '/mcp'],
      [url, 'POST', '/mcp/v1/execute'],
      [url, 'GET', '/api/v1/receipts/tail'],
      [url, 'GET', '/approvals/apr_00000000000000000000000000'],
      [url, 'POST', '/approvals/sign-in'],
    ];
    for (const [base, method, path] of doors) {
      const send = (headers: Record<string, string>) =>
        (method === 'GET' ? supertest(base).get(path) : supertest(base).post(path)).set({ ...credentials, ...headers });
      for (const [code, headers] of [
        ['HOST_NOT_ALLOWED', { host: 'rebound.example' }],
        ['ORIGIN_NOT_ALLOWED', { origin: 'https://evil.example' }],
        ['ORIGIN_NOT_ALLOWED', { origin: 'null' }],
      ] as const) {
        const { status, text } = await send(headers);
        expect([path, code, status]).toEqual([path, code, 403]);
        expect(text).toMatch(/HOST_NOT_ALLOWED|ORIGIN_NOT_ALLOWED|may not call|does not go by/);
      }
    }
    const receipts = await door()
      .get('/api/v1/receipts')
      .set({ ...credentials, 'x-gov-tenant-id': 'nobody' });
    expect(receipts.body).toMatchObject({ data: [] });
    for (const host of ['10.1.2.3:8081', '[fd00::1]', 'kernel.example'])
      await supertest(healthUrl).get('/health/live').set({ host }).expect(200);
  });

  it('returns the request id of the caller, or a new one if the id is malformed', async () => {
    const named = await door().get('/healthz').set('x-request-id', 'req-of-a-caller').expect(200);
    expect(named.headers['x-request-id']).toBe('req-of-a-caller');
    const hostile = await door().get('/no/such/path').set('x-request-id', `x'"<script>`.repeat(40)).expect(404);
    const { error } = ErrorEnvelope.parse(hostile.body);
    expect(error).toMatchObject({ code: 'ROUTE_NOT_FOUND', request_id: hostile.headers['x-request-id'] });
    expect(error.request_id).toMatch(/^[\w-]{8,64}$/);
  });

  it('returns the methods that a path allows, and does not reveal its software', async () => {
    const { headers } = await door().delete('/api/v1/receipts').set(credentials).expect(405);
    expect(headers['allow']).toContain('GET');
    expect(headers).not.toHaveProperty('x-powered-by');
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'cache-control': expect.stringContaining('no-store'),
    });
  });

  it('serves only probes on the health port', async () => {
    await supertest(test.kernel.healthUrl).get('/health/live').expect(200);
    await supertest(test.kernel.healthUrl).post('/api/v1/evaluate').set(credentials).send(read).expect(404);
  });
});
