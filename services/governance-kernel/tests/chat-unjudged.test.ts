import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { followDirectives } from '@countersign/testkit/scripted-model';
import { createTcpProxy, type TcpProxy } from '@countersign/testkit/tcp-proxy';
import { verifies } from '@countersign/testkit/verifies';
import { kernelConfigFrom, startKernel, type StartedKernel } from '../src/index.ts';
import { askOnce, type Statement } from './_chat-callers.ts';
import { startUpstreams, receiptsOf, type Upstreams } from './_upstreams.ts';

let upstreams: Upstreams;
let proxy: TcpProxy;
/** A kernel whose database becomes unavailable. It does not wait for the database. */
let cutOff: StartedKernel;

beforeAll(async () => {
  upstreams = await startUpstreams();
  const { env } = upstreams.test;
  const direct = new URL(env['DATABASE_URL'] ?? '');
  proxy = await createTcpProxy({ host: direct.hostname, port: Number(direct.port || 5432) });
  const through = new URL(direct);
  through.host = `127.0.0.1:${proxy.port}`;
  cutOff = await startKernel(kernelConfigFrom({ ...env, DATABASE_URL: through.href }), { ledgerAwayMsMax: 0 });
});
afterAll(async () => {
  await cutOff.stop();
  await proxy.close();
  await upstreams.close();
});
beforeEach(() => upstreams.model.follow(followDirectives));

const askedOf = (key: string) => upstreams.model.requests.filter(({ body }) => body.includes(key)).length;
const proposalOf = (key: string) => `call:notes__read_note {"id":"${key}"}`;

/** Gets an answer whose proposed call cannot be judged, because the database is cut off. */
async function buyUnjudged(key: string): Promise<void> {
  upstreams.model.follow((request) => {
    proxy.cut();
    return followDirectives(request);
  });
  const answer = await askOnce(cutOff.url, key, proposalOf(key));
  expect(answer).toMatchObject({ status: 503, isReplayed: false });
  expect(answer.text).not.toContain('notes__read_note');
  upstreams.model.follow(followDirectives);
  proxy.restore();
}

/** Repeats the request like a client that was asked to come back. */
async function askUntilJudged(url: string, key: string): Promise<Statement> {
  for (;;) {
    const answer = await askOnce(url, key, proposalOf(key));
    if (answer.status !== 503) return answer;
  }
}

const callsOf = ({ text }: Statement) =>
  (JSON.parse(text) as { choices: { message: { tool_calls?: unknown[] } }[] }).choices[0]?.message.tool_calls ?? [];

describe('an answer that was paid for while the database was unavailable', () => {
  verifies('kn.chat.once', 'has its calls judged for the returning caller, and is not paid for again', async () => {
    await buyUnjudged('judged-later');
    const judged = await askUntilJudged(cutOff.url, 'judged-later');
    expect(judged).toMatchObject({ status: 200, isReplayed: true });
    expect(callsOf(judged)).toHaveLength(1);
    expect(await askOnce(cutOff.url, 'judged-later', proposalOf('judged-later'))).toEqual(judged);
    expect(askedOf('judged-later')).toBe(1);
    await cutOff.workers.reconciler.run();
    const receipts = await receiptsOf(upstreams.test, 'judged-later');
    expect(receipts.filter(({ kind, action }) => kind === 'decision' && action === 'tool.call')).toHaveLength(1);
    expect(receipts.filter(({ kind }) => kind === 'outcome')).toMatchObject([{ outcome: 'completed' }]);
  });

  it('is judged by another kernel once it is stored', async () => {
    await buyUnjudged('judged-elsewhere');
    await cutOff.workers.reconciler.run();
    const judged = await askUntilJudged(upstreams.test.kernel.url, 'judged-elsewhere');
    expect(callsOf(judged)).toHaveLength(1);
    expect(await askOnce(cutOff.url, 'judged-elsewhere', proposalOf('judged-elsewhere'))).toEqual(judged);
    expect(askedOf('judged-elsewhere')).toBe(1);
  });

  it('is judged once for all callers that return at the same time', async () => {
    await buyUnjudged('judged-for-all');
    const all = await Promise.all(Array.from({ length: 5 }, () => askUntilJudged(cutOff.url, 'judged-for-all')));
    expect(new Set(all.map(({ text }) => text)).size).toBe(1);
    const receipts = await receiptsOf(upstreams.test, 'judged-for-all');
    expect(receipts.filter(({ action }) => action === 'tool.call')).toHaveLength(1);
  });

  it('is judged by the rules in force when its caller returns', async () => {
    await buyUnjudged('denied-later');
    await upstreams.test.system.putToolBlocks({
      params: { tenant: 'acme' },
      body: { version: 1, tools: ['notes__read_note'] },
    });
    const judged = await askUntilJudged(cutOff.url, 'denied-later');
    expect(judged.status).toBe(200);
    expect(callsOf(judged)).toEqual([]);
    await upstreams.test.system.putToolBlocks({ params: { tenant: 'acme' }, body: { version: 2, tools: [] } });
  });
});
