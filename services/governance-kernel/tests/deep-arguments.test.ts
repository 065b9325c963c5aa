import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { argumentsDepthMax, createClient, type PlainJson } from '@countersign/contracts';
import { ProtocolError } from '@modelcontextprotocol/client';
import { newSession, refusal } from './_caller.ts';
import { attempt, connectMcp, doors, type Site } from './_doors.ts';
import { kernelRoutes, type KernelClient } from './_kernel.ts';
import { receiptsOf, startUpstreams } from './_upstreams.ts';

let site: Site;
let agent: KernelClient;
beforeAll(async () => {
  const upstreams = await startUpstreams();
  site = { ...upstreams, mcp: await connectMcp(upstreams.test.kernel.url) };
  agent = site.test.as('acme');
});
afterAll(async () => {
  await site.mcp.close();
  await site.close();
});

/** Arguments with this many levels, where the outer object is the first level. */
const nested = (levels: number, member = 'id') =>
  JSON.parse(`{"${member}":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`) as Record<string, PlainJson>;
const taken = nested(argumentsDepthMax);
const tooDeep = nested(argumentsDepthMax + 1);

const tool = 'notes.read_note';
const sent = (session_id: string, args: object) => ({ tool, args, session_id, context: {} });
type Ask = (session: string, args: Record<string, PlainJson>) => Promise<unknown>;
const refusing: [string, string, Ask][] = [
  [
    'evaluate',
    'INVALID_REQUEST',
    (session, args) =>
      agent.evaluate({ body: { ...sent(session, args), action: 'tool.call', mode: 'enforce' } as never }),
  ],
  ['execute-mcp', 'INVALID_REQUEST', (session, args) => agent.executeMcp({ body: sent(session, args) })],
  [
    'create-approval',
    'INVALID_REQUEST',
    (session, args) =>
      agent.createApproval({ body: { ...sent(session, args), action: 'tool.call', reason: 'x' } as never }),
  ],
  ['call-mcp, a plain call', '-32602', (session, args) => callTool(session, args, {})],
  // A call that sets a log level takes the path through the SDK's server instead of the plain path.
  [
    'call-mcp, by the SDK server',
    '-32602',
    (session, args) => callTool(session, args, { 'io.modelcontextprotocol/logLevel': 'error' }),
  ],
];

const callTool = (session: string, args: Record<string, PlainJson>, meta: object) =>
  site.mcp.callTool({ name: tool, arguments: args, _meta: { 'countersign/session_id': session, ...meta } });

/** The error code of a refused call, or `decided`. */
const reportOf = (pending: Promise<unknown>) =>
  pending.then(
    () => 'decided',
    (error: unknown) => (error instanceof ProtocolError ? String(error.code) : refusal(Promise.reject(error as Error))),
  );

describe('arguments that nest too deep', () => {
  it.each(refusing)('are refused at the door %s, and nothing is sealed or sent', async (_name, code, ask) => {
    const [session, deep] = [newSession(), newSession()];
    const before = site.notes.calls.length;
    expect([await reportOf(ask(session, taken)), await reportOf(ask(deep, tooDeep))]).toEqual(['decided', code]);
    expect(await receiptsOf(site.test, session)).not.toEqual([]);
    expect([await receiptsOf(site.test, deep), site.notes.calls.length]).toEqual([[], before]);
  });

  it('are denied with MALFORMED_ARGUMENTS when a model proposes them', async () => {
    for (const door of doors.filter(({ proposed }) => proposed)) {
      const propose = async (args: object) => {
        const { code, executed } = await attempt(site, door, {
          tool: 'lookup',
          argumentsText: JSON.stringify(args),
        });
        return [door.name, code, executed];
      };
      expect(await propose(taken)).toEqual([door.name, 'ALLOWED', true]);
      expect(await propose(tooDeep)).toEqual([door.name, 'MALFORMED_ARGUMENTS', false]);
    }
  });

  it('are refused in the demo, whose policy reads arguments', async () => {
    const visitor = createClient(kernelRoutes, { baseUrl: site.test.kernel.url });
    const run = (levels: number) =>
      reportOf(visitor.runDemo({ body: { action_id: 'small_refund', args: nested(levels, 'amount_minor') } }));
    expect(await run(argumentsDepthMax)).toBe('decided');
    for (const levels of [argumentsDepthMax + 1, argumentsDepthMax + 3, 60])
      expect([levels, await run(levels)]).toEqual([levels, 'INVALID_REQUEST']);
  });
});
