import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { followDirectives, startScriptedModel, type ScriptedModel } from '@countersign/testkit/scripted-model';
import { createTcpProxy, type TcpProxy } from '@countersign/testkit/tcp-proxy';
import { verifies } from '@countersign/testkit/verifies';
import type OpenAI from 'openai';
import { untilReachable } from '@countersign/testkit/until';
import { kernelConfigFrom, startKernel, type StartedKernel } from '../src/index.ts';
import { askOnce, askUntilAnswered, callAndDie } from './_chat-callers.ts';
import { freePort, startKernelProcess, type KernelProcess } from './_kernel-process.ts';
import { poolOf } from './_kernel.ts';
import { statementsOf } from './_statements.ts';
import { receiptsOf, startUpstreams, type Upstreams } from './_upstreams.ts';

let upstreams: Upstreams;
let kernel: KernelProcess;
beforeAll(async () => {
  upstreams = await startUpstreams();
  kernel = await startKernelProcess(upstreams.test.env);
});
afterAll(async () => {
  await kernel.kill();
  await upstreams.close();
});
beforeEach(() => upstreams.model.follow(followDirectives));

const askedOf = (key: string) => upstreams.model.requests.filter(({ body }) => body.includes(`"${key}"`)).length;

describe('callers that are killed', () => {
  verifies(
    'kn.chat.once',
    'at random moments and repeat their calls reach the model once per key: one ALLOW, one outcome, one answer',
    async () => {
      upstreams.model.follow((request) => (res) => {
        const text = JSON.stringify({
          id: 'x',
          choices: [{ index: 0, message: { role: 'assistant', content: `heard ${request.messages.length}` } }],
          usage: { prompt_tokens: 1, completion_tokens: 1 },
        });
        const write = () => res.writeHead(200, { 'content-type': 'application/json' }).end(text);
        setTimeout(write, 20 + Math.random() * 150); // at random moments
      });
      const rounds = Array.from({ length: 6 }, (_, round) =>
        Array.from({ length: 8 }, (_none, nth) => `killed-${round}-${nth}`),
      );
      for (const keys of rounds) {
        await callAndDie(kernel.url, keys, () => delay(Math.random() * 200)); // at random moments
        // Each caller repeats its request at both kernels, and gets an answer from both.
        const answers = await Promise.all(
          keys.map(async (key) => [
            await askUntilAnswered(upstreams.test.kernel.url, key),
            await askUntilAnswered(kernel.url, key),
          ]),
        );
        for (const [first, again] of answers) {
          expect(first).toMatchObject({ status: 200 });
          expect(again).toEqual({ ...first, isReplayed: true });
        }
      }
      for (const key of rounds.flat()) {
        expect([key, askedOf(key)]).toEqual([key, 1]);
        expect(await receiptsOf(upstreams.test, key)).toMatchObject([
          { kind: 'decision', verdict: 'ALLOW' },
          { kind: 'outcome', outcome: 'completed' },
        ]);
      }
    },
  );
});

describe('the answer to a request with an idempotency key', () => {
  const faults: [name: string, first: number, again: number, code: string, answer: (res: ServerResponse) => void][] = [
    ['broken-off', 502, 409, 'OUTCOME_UNCERTAIN', (res) => void res.destroy()],
    ['server-crashed', 500, 409, 'OUTCOME_UNCERTAIN', (res) => void res.writeHead(500).end()],
    [
      'no-json',
      502,
      502,
      'UPSTREAM_FAILED',
      (res) => void res.writeHead(200, { 'content-type': 'application/json' }).end('{'),
    ],
  ];
  it.each(faults)(
    'is reported as a fault and not requested again when it is unusable: %s',
    async (key, first, status, code, answer) => {
      const url = upstreams.test.kernel.url;
      upstreams.model.follow(() => answer);
      expect(await askOnce(url, key)).toMatchObject({ status: first, isReplayed: false });
      upstreams.model.follow(followDirectives);
      const again = await askOnce(url, key);
      expect(again).toMatchObject({ status, code, isReplayed: true });
      // A repetition with this key gets the same error while the key is stored, so the error is not retryable.
      expect(JSON.parse(again.text)).toMatchObject({ error: { retryable: false } });
      expect(askedOf(key)).toBe(1);
    },
  );

  it('is requested again when the model server refused, which cost nothing', async () => {
    const url = upstreams.test.kernel.url;
    upstreams.model.follow(() => (res) => void res.writeHead(429).end());
    expect(await askOnce(url, 'refused')).toMatchObject({ status: 429 });
    upstreams.model.follow(followDirectives);
    expect(await askOnce(url, 'refused')).toMatchObject({ status: 200, isReplayed: false });
    expect(askedOf('refused')).toBe(2);
  });

  it('is requested again when there was no model server', async () => {
    const port = await freePort();
    const env = { ...upstreams.test.env, GOV_UPSTREAM_URL: `http://127.0.0.1:${port}/v1` };
    const alone = await startKernel(kernelConfigFrom(env));
    let model: ScriptedModel | null = null;
    try {
      expect(await askOnce(alone.url, 'never-sent')).toMatchObject({ status: 502, code: 'UPSTREAM_FAILED' });
      model = await startScriptedModel({ port });
      expect(await askOnce(alone.url, 'never-sent')).toMatchObject({ status: 200, isReplayed: false });
    } finally {
      await model?.close();
      await alone.stop();
    }
  });

  it('is not requested when the policy denied the call, and the denial is replayed', async () => {
    const headers = { 'x-gov-session-id': 'refused-by-policy', 'idempotency-key': 'refused-by-policy' };
    const { completions } = upstreams.openai({ headers }).chat;
    const refusal = async () => {
      const refused = completions.create({ model: 'forbidden', messages: [{ role: 'user', content: 'x' }] });
      const error = await refused.catch(
        (reason: unknown) => reason as InstanceType<typeof OpenAI.PermissionDeniedError>,
      );
      return 'headers' in error ? [error.status, error.headers.get('idempotency-replayed')] : error;
    };
    expect([await refusal(), await refusal()]).toEqual([
      [403, null],
      [403, 'true'],
    ]);
    expect(await receiptsOf(upstreams.test, 'refused-by-policy')).toMatchObject([{ verdict: 'DENY' }]);
  });
});

describe('a database that is unavailable when the model answers', () => {
  let proxy: TcpProxy;
  let cutOff: StartedKernel;
  beforeAll(async () => {
    const { env } = upstreams.test;
    const direct = new URL(env['DATABASE_URL'] ?? '');
    proxy = await createTcpProxy({ host: direct.hostname, port: Number(direct.port || 5432) });
    const through = new URL(direct);
    through.host = `127.0.0.1:${proxy.port}`;
    cutOff = await startKernel(kernelConfigFrom({ ...env, DATABASE_URL: through.href }));
  });
  afterAll(async () => {
    await cutOff.stop();
    await proxy.close();
  });
  const cutWhenAsked = () =>
    upstreams.model.follow((request) => {
      proxy.cut();
      return followDirectives(request);
    });

  verifies(
    'kn.chat.once',
    'loses no answer: the caller gets the answer, and so does a repeated request with the key',
    async () => {
      cutWhenAsked();
      const bought = await askOnce(cutOff.url, 'kept-in-memory');
      expect(bought).toMatchObject({ status: 200 });
      proxy.restore();
      await untilReachable(async () => (await askOnce(cutOff.url, 'kept-in-memory')).status === 200);
      await cutOff.workers.reconciler.run();
      expect(await askOnce(upstreams.test.kernel.url, 'kept-in-memory')).toEqual({ ...bought, isReplayed: true });
      expect(askedOf('kept-in-memory')).toBe(1);
    },
  );

  it('delays the decision on proposed calls until it is back', async () => {
    cutWhenAsked();
    await statementsOf(poolOf(cutOff), async (sent) => {
      const asking = askOnce(cutOff.url, 'judged-late', 'call:notes__read_note {"id":"judged-late"}');
      await untilReachable(() =>
        Promise.resolve(upstreams.model.requests.at(-1)?.body.includes('judged-late') === true),
      );
      // A decision needs the pin of its tool. The kernel cannot read the pin from the unreachable database, and tries
      // again.
      const lookUps = () => sent.filter(({ text }) => text.includes('mcp_servers')).length;
      const before = lookUps();
      await untilReachable(() => Promise.resolve(lookUps() >= before + 2));
      proxy.restore();
      expect(await asking).toMatchObject({ status: 200, text: expect.stringContaining('notes__read_note') });
    });
    expect((await receiptsOf(upstreams.test, 'judged-late')).map(({ action }) => action)).toEqual([
      'model.call',
      'tool.call',
      'model.call',
    ]);
  });
});
