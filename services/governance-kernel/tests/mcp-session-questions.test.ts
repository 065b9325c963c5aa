import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { untilReachable } from '@countersign/testkit/until';
import { ElicitRequestSchema, type ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import { kernelConfigFrom, startKernel, type StartedKernel } from '../src/index.ts';
import { startConformanceServer } from './_conformance-server.ts';
import { startTestKernel, type TestKernel } from './_kernel.ts';
import { headersOf, initialize, post, sessionClient } from './_session-clients.ts';
import { receiptsOf } from './_upstreams.ts';

const policy = `
format: countersign/policy.v1
name: questions
version: '1'
rules:
  - { id: no-secrets, effect: deny, match: { resource: ['*#input=*'], principal: [careful] } }
  - { id: payments, effect: escalate, match: { tool: [test.simple_text], principal: [payer] }, reason: A person confirms. }
  - { id: all, effect: allow, match: { action: [tool.call] } }
`;

let test: TestKernel;
let second: StartedKernel;
let impatient: StartedKernel;
let upstream: Awaited<ReturnType<typeof startConformanceServer>>;
beforeAll(async () => {
  upstream = await startConformanceServer();
  const servers = [{ server_id: 'test', transport: 'http', trust_annotations: true, url: upstream.url }];
  const env = { GOV_MCP_SERVERS: JSON.stringify({ servers }), GOV_MCP_APPROVAL_WAIT: '60s' };
  test = await startTestKernel({ env });
  second = await startKernel(kernelConfigFrom(test.env));
  impatient = await startKernel(kernelConfigFrom(test.env), { mcpSessionTimes: { answerWaitMs: 300 } });
  await test.activate('*', policy);
});
afterAll(async () => {
  await Promise.all([second.stop(), impatient.stop()]);
  await test.close();
  await upstream.close();
});

let sessions = 0;
const newSession = () => `questions-${(sessions += 1)}`;
const forms = { elicitation: {} };
const question = { name: 'test.elicitation', arguments: { message: 'Who are you?' } };
const filled: ElicitResult = { action: 'accept', content: { username: 'ada', email: 'ada@example.com' } };
const textOf = (result: object) => JSON.stringify('content' in result ? result.content : result);

type Answering = (id: string | number) => ElicitResult | Promise<ElicitResult>;
type Terms = Omit<Parameters<typeof sessionClient>[0], 'url'> & { kernel?: StartedKernel };

/** A client that answers each question with `answering`. */
async function answeringClient(answering: Answering, { kernel = test.kernel, ...terms }: Terms = {}) {
  const connected = await sessionClient({ url: kernel.url, capabilities: forms, ...terms });
  const questions: { id: string | number; message: string }[] = [];
  connected.client.setRequestHandler(ElicitRequestSchema, async ({ params }, { requestId: id }) => {
    questions.push({ id, message: params.message });
    return await answering(id);
  });
  return { ...connected, questions };
}

const sealed = async (session: string) =>
  (await receiptsOf(test, session))
    .filter(({ kind }) => kind === 'decision' || kind === 'outcome')
    .map(({ kind, verdict, outcome }) => [kind, outcome ?? verdict]);
/** The outcome of a round with questions, and of no later round. */
const oneRound = [
  ['decision', 'ALLOW'],
  ['outcome', 'completed'],
];

describe('a question of a server to a client of 2025-11-25', () => {
  verifies('kn.mcp.server', 'is asked during the call, and each round is decided and sealed', async () => {
    const session = newSession();
    const { client, questions } = await answeringClient(() => filled, { session });
    const result = await client.callTool(question);
    expect(textOf(result)).toContain('ada@example.com');
    expect(questions.map(({ message }) => message)).toEqual(['Server "test" asks: Who are you?']);
    expect(await sealed(session)).toEqual([...oneRound, ...oneRound]);
    const [, , round] = await receiptsOf(test, session);
    expect(round?.resource).toMatch(/^#input=sha256:/);
    await client.close();
  });

  it('shows the invisible characters of its text', async () => {
    const { client, questions } = await answeringClient(() => filled);
    await client.callTool({ ...question, arguments: { message: 'Hi\u001b[2J\u202e!\nWho?' } });
    expect(questions.map(({ message }) => message)).toEqual(['Server "test" asks: Hi⟨U+001B⟩[2J⟨U+202E⟩!\nWho?']);
    await client.close();
  });

  it('is not relayed when it is too long to be read', async () => {
    const { client, questions } = await answeringClient(() => filled);
    const result = await client.callTool({ ...question, arguments: { message: 'x'.repeat(66_000) } });
    expect([result.isError, textOf(result)]).toEqual([true, expect.stringContaining('too long to be relayed')]);
    expect(questions).toEqual([]);
    await client.close();
  });

  it('accepts the answer at another kernel', async () => {
    const isAnswer = ({ method }: { method?: string }) => method === undefined;
    const urlFor = (message: { method?: string }) => (isAnswer(message) ? second.url : undefined);
    const { client, sent } = await answeringClient(() => filled, { urlFor });
    expect(textOf(await client.callTool(question))).toContain('ada@example.com');
    expect(sent.filter(({ message }) => isAnswer(message)).map(({ status }) => status)).toEqual([202]);
    await client.close();
  });

  it('is decided again with its answer, and a denied answer does not reach the server', async () => {
    const session = newSession();
    const { client } = await answeringClient(() => filled, { session, principal: 'careful' });
    const result = await client.callTool(question);
    expect([result.isError, textOf(result).includes('ada')]).toEqual([true, false]);
    expect((await sealed(session)).at(-1)).toEqual(['decision', 'DENY']);
    await client.close();
  });

  it('ignores answers of other principals, of other sessions and under other ids', async () => {
    let stolen: string | number = '';
    const answered = { answer: (_result: ElicitResult): void => undefined };
    const { client, transport } = await answeringClient((id) => {
      stolen = id;
      return new Promise((resolve) => {
        answered.answer = resolve;
      });
    });
    const result = client.callTool(question);
    await untilReachable(async () => stolen !== '');
    const token = async (principal: string) => {
      const answer = await post(test.kernel.url, initialize(), headersOf({ principal }));
      return answer.headers.get('mcp-session-id') ?? '';
    };
    const forged = { action: 'accept', content: { username: 'mallory', email: 'm@example.com' } };
    const forge = async (id: string | number, principal: string, session: string) => {
      const headers = { ...headersOf({ principal }), 'mcp-session-id': session };
      return (await post(test.kernel.url, { jsonrpc: '2.0', id, result: forged }, headers)).status;
    };
    expect(await forge(stolen, 'mallory', await token('mallory'))).toBe(202);
    expect(await forge(stolen, 'agent', await token('agent'))).toBe(202);
    const changed = String(stolen).replace(/^./, (first) => (first === 'A' ? 'B' : 'A'));
    expect(await forge(changed, 'agent', transport.sessionId ?? '')).toBe(202);
    expect(await forge(1, 'agent', transport.sessionId ?? '')).toBe(202);
    expect(await forge(stolen, 'mallory', transport.sessionId ?? '')).toBe(404);
    answered.answer(filled);
    expect(textOf(await result)).toContain('ada@example.com');
    await client.close();
  });

  it('takes the first answer of a client that answers twice, also after the end', async () => {
    const session = newSession();
    const { client, transport } = await answeringClient(() => filled, { session });
    const ids: unknown[] = [];
    const twice = async (id: string | number) => {
      ids.push(id);
      const headers = { ...headersOf({ session }), 'mcp-session-id': transport.sessionId ?? '' };
      const declined = { jsonrpc: '2.0', id, result: { action: 'decline' } };
      await post(test.kernel.url, declined, headers);
      return (await post(second.url, declined, headers)).status;
    };
    const statuses: Promise<number>[] = [];
    client.setRequestHandler(ElicitRequestSchema, async (_request, { requestId }) => {
      statuses.push(twice(requestId));
      await Promise.all(statuses);
      return filled;
    });
    expect(textOf(await client.callTool(question))).toContain('decline');
    await untilReachable(async () => ids.length === 1);
    expect(await sealed(session)).toEqual([...oneRound, ...oneRound]);
    await client.close();
  });

  it('ends the call when the client does not answer in time, and tells the client', async () => {
    const session = newSession();
    const { client } = await answeringClient(() => filled, { session, kernel: impatient });
    let isClosed = false;
    client.setRequestHandler(ElicitRequestSchema, async (_request, { signal }) => {
      await once(signal, 'abort');
      isClosed = true;
      return filled;
    });
    const result = await client.callTool(question);
    expect(isClosed).toBe(true);
    expect([result.isError, textOf(result)]).toEqual([true, expect.stringContaining('did not answer')]);
    expect(await sealed(session)).toEqual(oneRound);
    await client.close();
  });

  it('ends the call when the answer is too long, or the client refuses', async () => {
    const long = { action: 'accept' as const, content: { username: 'x'.repeat(5_000) } };
    const nested = { action: 'accept', content: { username: { first: 'ada' } } } as never; // refused by the client itself
    for (const [answer, problem] of [
      [long, 'more than 4096 bytes'],
      [nested, 'refused the question'],
    ] as const) {
      const session = newSession();
      const { client } = await answeringClient(() => answer, { session });
      const result = await client.callTool(question);
      expect([result.isError, textOf(result)]).toEqual([true, expect.stringContaining(problem)]);
      expect(await sealed(session)).toEqual(oneRound);
      await client.close();
    }
  });

  it('is not sent to a client that declared no elicitation', async () => {
    const session = newSession();
    const { client } = await sessionClient({ url: test.kernel.url, session });
    await expect(client.callTool(question)).rejects.toThrow('Missing required client capabilities');
    expect((await sealed(session)).at(-1)).toEqual(['outcome', 'failed']);
    await client.close();
  });

  it('ends with its kernel, and the last round stays settled', async () => {
    const third = await startKernel(kernelConfigFrom(test.env));
    const session = newSession();
    const { client, questions } = await answeringClient(() => new Promise(() => undefined), { session, kernel: third });
    const result = client.callTool(question);
    await untilReachable(async () => questions.length === 1);
    await Promise.all([third.stop(), result]);
    expect(textOf(await result)).toContain('The kernel is stopping');
    expect(await sealed(session)).toEqual(oneRound);
    await client.close();
  });

  it('is limited to 16 open questions of a principal', async () => {
    const pending: (() => void)[] = [];
    const answering = () => new Promise<ElicitResult>((resolve) => pending.push(() => resolve(filled)));
    const { client } = await answeringClient(answering, { principal: 'busy' });
    const calls = Array.from({ length: 16 }, () => client.callTool(question));
    await untilReachable(async () => pending.length === 16);
    const { client: same } = await answeringClient(() => filled, { principal: 'busy' });
    expect(textOf(await same.callTool(question))).toContain('Too many questions');
    const { client: free } = await answeringClient(() => filled, { principal: 'idle' });
    expect(textOf(await free.callTool(question))).toContain('ada@example.com');
    for (const answer of pending) answer();
    await Promise.all(calls);
    await Promise.all([client.close(), same.close(), free.close()]);
  });
});

describe('an escalated call of a client of 2025-11-25 that can open pages', () => {
  const pages = { elicitation: { url: {} } };
  const payment = { name: 'test.simple_text', arguments: {} };
  const approve = async (session: string) => {
    const approver = test.as('acme', 'approver');
    const { body } = await approver.listApprovals({ query: { state: 'pending' } });
    const approval = body.data.find(({ session_id: of }) => of === session);
    if (approval === undefined) throw new Error('It is not pending');
    await approver.transitionApproval({
      params: { approval_id: approval.approval_id, action: 'approve' },
      body: { expected_ceremony_hash: approval.ceremony_hash },
    });
  };

  it('asks to open the approval, waits for it, and is executed with it', async () => {
    const session = newSession();
    const terms = { session, principal: 'payer', capabilities: pages };
    const { client } = await sessionClient({ url: test.kernel.url, ...terms });
    const opened: string[] = [];
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
      if (params.mode !== 'url') throw new Error('It is no page');
      opened.push(params.url);
      await approve(session);
      return { action: 'accept' };
    });
    const result = await client.callTool(payment);
    expect(textOf(result)).toContain('simple text response');
    expect(opened).toEqual([expect.stringMatching(/\/approvals\/apr_/)]);
    expect((await sealed(session)).map(([, state]) => state)).toEqual(['ESCALATE', 'ALLOW', 'completed']);
    await client.close();
  });

  it('is refused when the person declines to open the approval, even if another person approves it', async () => {
    const session = newSession();
    const terms = { session, principal: 'payer', capabilities: pages };
    const declining = async (): Promise<ElicitResult> => {
      await approve(session);
      return { action: 'decline' };
    };
    const { client } = await answeringClient(declining, terms);
    const result = await client.callTool(payment);
    expect([result.isError, textOf(result)]).toEqual([true, expect.stringContaining('/approvals/apr_')]);
    expect((await sealed(session)).map(([, state]) => state)).toEqual(['ESCALATE']);
    await client.close();
  });
});
