import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { plainCallOf } from '../src/doors/mcp/plain-call.ts';
import { newSession } from './_caller.ts';
import { adminKey } from './_kernel.ts';
import { receiptsOf, startUpstreams, type Upstreams } from './_upstreams.ts';

let upstreams: Upstreams;
beforeAll(async () => {
  upstreams = await startUpstreams();
  // Writes the note that the calls read.
  const name = 'notes.write_note';
  await send(messageOf({ name, arguments: { id: 'a', text: 'x' } }), { name, session: newSession() });
});
afterAll(() => upstreams.close());

const key = (name: string) => `io.modelcontextprotocol/${name}`;
const envelope = {
  [key('protocolVersion')]: '2026-07-28',
  [key('clientInfo')]: { name: 'test', version: '1' },
  [key('clientCapabilities')]: {},
};
type Json = Record<string, unknown>;
const messageOf = (params: Json): Json => ({
  jsonrpc: '2.0',
  id: 7,
  method: 'tools/call',
  params: { name: 'notes.read_note', arguments: { id: 'a' }, _meta: envelope, ...params },
});
const headersOf = (name: string) => ({
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': name,
});
/** The name in a base64 form that the protocol allows. Only the SDK server decodes it. */
const sentinel = (name: string) => `=?base64?${Buffer.from(name).toString('base64')}?=`;

type Sending = { name: string; session: string; headers?: Record<string, string> };

async function send(message: Json, { name, session, headers = {} }: Sending) {
  const response = await fetch(`${upstreams.test.kernel.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${adminKey}`,
      'x-gov-tenant-id': 'acme',
      'x-gov-session-id': session,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headersOf(name),
      ...headers,
    },
    body: JSON.stringify(message),
  });
  const sealed = (await receiptsOf(upstreams.test, session)).map(({ tool, verdict, outcome }) => [
    tool,
    verdict,
    outcome,
  ]);
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    answer: withoutIds(await response.text()),
    sealed,
  };
}

/** Removes IDs and times, which differ between two calls. */
function withoutIds(text: string): unknown {
  return JSON.parse(text.replace(/\b(rcp|dec|apr)_[0-9A-Z]{26}/g, '$1').replace(/until [^ ]+Z/g, 'until then'));
}

const calls: [string, Json][] = [
  ['is allowed', { name: 'notes.write_note', arguments: { id: 'a', text: 'x' } }],
  ['waits for an approval', { name: 'notes.pay', arguments: { amount: 5 } }],
  ['fails in its tool', { arguments: { id: 'missing' } }],
  ['is denied', { name: 'notes.delete_note' }],
  ['names a tool that does not exist', { name: 'notes.nothing' }],
  ['names a tool whose name is too long to seal', { name: 'n'.repeat(257) }],
  ['has arguments that break the schema', { arguments: { id: 7 } }],
  ['has no arguments', { arguments: undefined }],
  ['names an invalid session', { _meta: { ...envelope, 'countersign/session_id': 7 } }],
  ['names an invalid approval', { _meta: { ...envelope, 'countersign/approval_grant': 'apr_x' } }],
];

describe('a plain tools/call', () => {
  it.each(calls)('that %s gets the answer of the SDK server and leaves the same receipts', async (_case, params) => {
    const message = messageOf(params);
    const name = String((message['params'] as Json)['name']);
    expect(plainCallOf(headersOf(name), message)).not.toBeNull();
    expect(plainCallOf(headersOf(sentinel(name)), message)).toBeNull();
    const plain = await send(message, { name, session: newSession() });
    expect(plain).toEqual(await send(message, { name: sentinel(name), session: newSession() }));
  });

  it.each([[['a']], [null], ['text'], [7]])(
    'with %j as arguments is denied and sealed, on both paths',
    async (input) => {
      const message = messageOf({ arguments: input });
      for (const name of ['notes.read_note', sentinel('notes.read_note')]) {
        const { status, answer, sealed } = await send(message, { name, session: newSession() });
        expect([status, sealed]).toEqual([200, [['notes.read_note', 'DENY', undefined]]]);
        expect(JSON.stringify(answer)).toContain('MALFORMED_ARGUMENTS');
      }
    },
  );

  it.each<[string, Json, Json]>([
    ['of another revision', {}, { 'mcp-protocol-version': '2025-11-25' }],
    ['without the header of its revision', {}, { 'mcp-protocol-version': undefined }],
    ['whose header names another method', {}, { 'mcp-method': 'tools/list' }],
    ['whose header names another tool', {}, { 'mcp-name': 'notes.delete_note' }],
    ['that is a notification', { id: undefined }, {}],
    ['with a fraction as its ID', { id: 1.5 }, {}],
    ['of another JSON-RPC version', { jsonrpc: '1.0' }, {}],
    ['with an unknown member', { extra: true }, {}],
    ['of another method', { method: 'tools/list' }, {}],
    ['without an envelope', { params: { name: 'notes.read_note' } }, {}],
    ['with input responses', paramsWith({ inputResponses: {} }), {}],
    ['with a request state', paramsWith({ requestState: 'x' }), {}],
    ['that requests a task', paramsWith({ task: {} }), {}],
    ['whose envelope names another revision', metaWith('protocolVersion', '2025-11-25'), {}],
    ['whose client supports elicitation', metaWith('clientCapabilities', { elicitation: { url: {} } }), {}],
    ['whose client has no capabilities', metaWith('clientCapabilities', undefined), {}],
    ['without client information', metaWith('clientInfo', 'x'), {}],
    ['that requests progress', paramsWith({ _meta: { ...envelope, progressToken: 1 } }), {}],
    ['with a log level', metaWith('logLevel', 'debug'), {}],
  ])('%s is handled by the SDK server', (_case, change, headers) => {
    const message = { ...messageOf({}), ...change };
    expect(plainCallOf(headersOf('notes.read_note'), messageOf({}))).not.toBeNull();
    expect(plainCallOf({ ...headersOf('notes.read_note'), ...headers }, message)).toBeNull();
  });

  it.each<[string, string, Json, Json]>([
    ['session', 'x-gov-session-id', { 'countersign/session_id': 'another' }, { 'x-gov-session-id': 'own' }],
    [
      'approval',
      'x-gov-approval-grant',
      { 'countersign/approval_grant': `apr_${'0'.repeat(26)}` },
      { 'x-gov-approval-grant': `apr_${'1'.repeat(26)}` },
    ],
    ['verdict', 'nothing', { 'countersign/verdict': 'ALLOW' }, {}],
    ['key', 'nothing', { 'Countersign/idempotency_key': 'x' }, {}],
  ])(
    'whose _meta contradicts its headers, or has an unsupported member (%s), is rejected before a decision',
    async (_what, _h, meta, headers) => {
      for (const name of ['notes.read_note', sentinel('notes.read_note')]) {
        const session = newSession();
        const message = messageOf({ _meta: { ...envelope, ...meta } });
        const sent = await send(message, { name, session, headers: headers as Record<string, string> });
        expect(sent).toMatchObject({
          answer: { error: { code: -32_602, data: { code: 'INVALID_REQUEST' } } },
          sealed: [],
        });
      }
    },
  );

  it('may repeat its headers in its _meta', async () => {
    const session = newSession();
    const message = messageOf({ _meta: { ...envelope, 'countersign/session_id': session } });
    expect(await send(message, { name: 'notes.read_note', session })).toMatchObject({
      sealed: [
        ['notes.read_note', 'ALLOW', undefined],
        ['notes.read_note', 'ALLOW', 'completed'],
      ],
    });
  });
});

function paramsWith(members: Json): Json {
  return { params: { ...(messageOf({})['params'] as Json), ...members } };
}

function metaWith(name: string, value: unknown): Json {
  return paramsWith({ _meta: { ...envelope, [key(name)]: value } });
}
