import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ExactAnswers, exactEvents } from '../src/doors/mcp/exact-answers.ts';
import { newSession } from './_caller.ts';
import type { ScriptedMcp } from './_scripted-mcp.ts';
import { receiptsOf, startScripted, type Upstreams } from './_upstreams.ts';

const listed = { name: 'act', description: 'Acts.', inputSchema: { type: 'object' } };
/** A stdio server that answers each call with the result text in its arguments, in two pieces. */
const overStdio = `
  const results = {
    initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } },
    'tools/list': { tools: [${JSON.stringify(listed)}] },
  };
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    const known = results[method] ? { result: results[method] } : { error: { code: -32601, message: 'unknown' } };
    const text = params?.arguments?.text;
    const reply = text === undefined
      ? JSON.stringify({ jsonrpc: '2.0', id, ...known })
      : '{"jsonrpc":"2.0","id":' + id + ',"result":' + text + '}';
    const middle = reply.length >> 1;
    process.stdout.write(reply.slice(0, middle));
    setImmediate(() => process.stdout.write(reply.slice(middle) + '\\n')); // so that the line comes in two pieces
  });`;

let scripted: ScriptedMcp;
let upstreams: Upstreams;
let close: () => Promise<void>;
beforeAll(async () => {
  const stdio = { transport: 'stdio', command: process.execPath, args: ['-e', overStdio], trust_annotations: false };
  ({ scripted, upstreams, close } = await startScripted({ more: [{ server_id: 'stdio', ...stdio }] }));
  await upstreams.test.activate('acme', allowing, 7);
});
afterAll(() => close());

const allowing = `
format: countersign/policy.v1
name: all
version: '1'
rules:
  - { id: all, effect: allow, match: { action: [tool.call, model.call] } }
tools:
  stdio.act: { effect_level: E1 }
`;

const resultOf = (members: string) =>
  `{"resultType":"complete","ttlMs":0,"cacheScope":"private","content":[],"structuredContent":{${members}}}`;

const transports: [name: string, call: (members: string) => Promise<Called>][] = [
  ['in one message', (members) => overHttp(members)],
  ['in a batch of messages', (members) => overHttp(members, { bodyOf: (message) => `[${message}]` })],
  ['in an event stream', (members) => overHttp(members, { isStreamed: true })],
  ['over stdio', (members) => called('stdio.act', { text: resultOf(members) })],
];

type Body = { isStreamed?: boolean; bodyOf?: (message: string) => string };

function overHttp(members: string, body: Body = {}): Promise<Called> {
  scripted.answer('tools/call', { resultText: resultOf(members), ...body });
  return called('scripted.act', {});
}

type Called = { result: string; sealed: string[] };

async function called(tool: string, args: Record<string, string>): Promise<Called> {
  const session = newSession();
  const body = { tool, args, session_id: session } as never; // unbranded strings
  const { result } = (await upstreams.test.as('acme').executeMcp({ body })).body;
  const receipts = await receiptsOf(upstreams.test, session);
  const sealed = receipts.map(({ reason_code, outcome }) => outcome ?? reason_code);
  return { result: JSON.stringify(result ?? {}), sealed };
}

describe.each(transports)('a tool result sent %s', (_name, call) => {
  it.each([
    ['an integer that JSON.parse rounds', '"order":{"id":1917043659912705297}', '/structuredContent/order/id'],
    ['a number beyond binary64', '"n":1e400', '/structuredContent/n'],
    ['a member that occurs twice', '"n":1,"n":2', '/structuredContent/n'],
  ])('is withheld, with the path reported, when it has %s', async (_fault, members, path) => {
    const { result, sealed } = await call(members);
    expect(result).toContain('The tool ran, but its answer was withheld: ');
    expect(result).toContain(` at ${path}"`);
    expect(sealed).toEqual(['ALLOWED', 'completed']);
  });

  it('is otherwise forwarded unchanged', async () => {
    const members = '"id":9007199254740991,"rate":0.1,"name":"\u00e4\ud83d\ude00"';
    const { result, sealed } = await call(members);
    expect(JSON.parse(result)).toMatchObject({ structuredContent: JSON.parse(`{${members}}`) as object });
    expect(sealed).toEqual(['ALLOWED', 'completed']);
  });
});

it('a message that answers no tool call is forwarded unchanged: schemas may contain inexact numbers', () => {
  const list = '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"inputSchema":{"maximum":18446744073709551615}}]}}';
  expect(new ExactAnswers().exactText(list)).toBe(list);
});

it('arguments proposed by a model are rejected with the path of an inexact number', async () => {
  const session = newSession();
  const { completions } = upstreams.openai({ headers: { 'x-gov-session-id': session } }).chat;
  upstreams.model.follow(() => ({
    toolCalls: [{ name: 'scripted__act', arguments: '{"order":{"id":1917043659912705297}}' }],
  }));
  const { choices } = await completions.create({ model: 'scripted', messages: [{ role: 'user', content: 'x' }] });
  expect(choices[0]?.message.content).toContain('/order/id');
  const [, denied] = await receiptsOf(upstreams.test, session);
  expect(denied).toMatchObject({ verdict: 'DENY', reason_code: 'MALFORMED_ARGUMENTS' });
});

describe('an event stream', () => {
  const read = async (...chunks: string[]) => {
    const reportOf = (data: string) => data.replace('1e400', 'withheld');
    const source = (async function* () {
      for (const chunk of chunks) yield Buffer.from(chunk);
    })();
    let text = '';
    for await (const chunk of exactEvents(source, reportOf)) text += chunk.toString();
    return text;
  };

  it.each([
    ['\n', 'id: 7\ndata: a\n\ndata: b\n\n'],
    ['\r\n', 'id: 7\r\ndata: a\r\n\r\ndata: b\r\n\r\n'],
    ['\r', 'id: 7\rdata: a\r\rdata: b\r\r'],
  ])('is parsed the same wherever its chunks are cut, with line ending %j', async (_end, text) => {
    const whole = 'id: 7\ndata: a\n\ndata: b\n\n';
    expect(await read(...text)).toBe(whole);
    for (let at = 0; at <= text.length; at += 1) expect(await read(text.slice(0, at), text.slice(at))).toBe(whole);
  });

  it('is checked per event, over all data lines of the event together', async () => {
    expect(await read('data: {"n":\ndata:1e400}\nid: 1\n\n')).toBe('id: 1\ndata: {"n":\nwithheld}\n\n');
  });

  it.each([1, 2, 3])(
    'loses one byte order mark at its start, and a field behind further marks is ignored (%i)',
    async (marks) => {
      const text = `${'\ufeff'.repeat(marks)}data: {"n":1e400}\n\n`;
      // A reader strips one byte order mark. A second mark becomes part of the field name, so the field is unknown.
      expect(await read(text)).toBe(marks === 1 ? 'data: {"n":withheld}\n\n' : '\n\n');
    },
  );

  it('omits an event that is not ended by an empty line', async () => {
    expect(await read('data: a\n\ndata: b\n')).toBe('data: a\n\n');
  });
});
