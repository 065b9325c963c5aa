import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newSession } from './_caller.ts';
import { adminKey } from './_kernel.ts';
import { receiptsOf, startUpstreams, type Upstreams } from './_upstreams.ts';

let upstreams: Upstreams;
beforeAll(async () => {
  upstreams = await startUpstreams();
});
afterAll(() => upstreams.close());

const unsealable: [string, string][] = [
  ['too long', 'x'.repeat(257)],
  ['of two lines', 'notes.read\nnote'],
  ['with a trailing space', 'notes.read_note '],
  ['with a NUL', 'notes.read\u0000note'],
  ['with an invisible control character', 'notes.read\u0085note'],
  ['with an invisible letter', 'notes.read_note\u2800'],
  ['empty', ''],
];

async function callTool(session: string, name: string) {
  const response = await fetch(`${upstreams.test.kernel.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${adminKey}`,
      'x-gov-tenant-id': 'acme',
      'x-gov-session-id': session,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {} } }),
  });
  return await response.text();
}

describe('a tool name that no receipt can contain', () => {
  it.each(unsealable)(
    'is rejected as invalid params of an MCP call, and nothing is sealed (%s)',
    async (_case, name) => {
      const session = newSession();
      const text = await callTool(session, name);
      expect(text).toContain('"code":-32602');
      expect(text).toContain('params.name');
      expect(await receiptsOf(upstreams.test, session)).toEqual([]);
      const exported = await upstreams.test.as('acme').listReceipts({ query: {} });
      expect(exported.status).toBe(200);
    },
  );
});
