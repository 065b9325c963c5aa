import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newSession } from './_caller.ts';
import { adminKey } from './_kernel.ts';
import { receiptsOf, startUpstreams, type Upstreams } from './_upstreams.ts';

let upstreams: Upstreams;
beforeAll(async () => {
  upstreams = await startUpstreams();
});
afterAll(() => upstreams.close());

function send(session: string, body: string, revision: string | undefined = '2025-11-25'): Promise<Response> {
  return fetch(`${upstreams.test.kernel.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${adminKey}`,
      'x-gov-tenant-id': 'acme',
      'x-gov-session-id': session,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(revision === undefined ? {} : { 'mcp-protocol-version': revision }),
    },
    body,
  });
}

const message = (params: string) => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;

describe('the body of an MCP call', () => {
  it.each<[string, string, string]>([
    ['names its tool twice', message('{"name":"notes.read_note","name":"notes.write_note"}'), 'DUPLICATE_MEMBER'],
    [
      'contains an argument twice',
      message('{"name":"notes.read_note","arguments":{"id":"a","id":"b"}}'),
      'DUPLICATE_MEMBER',
    ],
    ['contains a lone surrogate', message('{"name":"notes.read_note","arguments":{"id":"\\ud800"}}'), 'LONE_SURROGATE'],
    [
      'contains a number out of range',
      message('{"name":"notes.pay","arguments":{"amount":1e999}}'),
      'NUMBER_OUT_OF_RANGE',
    ],
    ['is truncated', message('{"name":'), 'MALFORMED_JSON'],
  ])('is rejected as invalid JSON and not decided when it %s', async (_case, body, code) => {
    const session = newSession();
    const response = await send(session, body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32_700, data: { code } } });
    expect(await receiptsOf(upstreams.test, session)).toEqual([]);
  });

  it('is rejected when it is not a message or is too large', async () => {
    expect((await send(newSession(), '"text"')).status).toBe(400);
    expect((await send(newSession(), message(`{"name":"${'x'.repeat(1_100_000)}"}`))).status).toBe(413);
  });

  it.each(['2026-07-28', '2025-11-25', '2025-03-26', undefined])(
    'must be one message and never a batch, in any protocol revision (%s)',
    async (revision) => {
      const session = newSession();
      const call = message('{"name":"notes.read_note","arguments":{"id":"a"}}');
      for (const batch of [`[${call}]`, `[${call},${call}]`, '[]']) {
        const response = await send(session, batch, revision);
        expect(response.status).toBe(400);
        expect(await response.json()).toMatchObject({
          error: { code: -32_000, message: expect.stringContaining('batches are not accepted') },
        });
      }
      expect(await receiptsOf(upstreams.test, session)).toEqual([]);
    },
  );
});
