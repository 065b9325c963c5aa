import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { untilReachable } from '@countersign/testkit/until';
import { newSession } from './_caller.ts';
import { adminKey } from './_kernel.ts';
import { receiptsOf, startUpstreams, type Upstreams } from './_upstreams.ts';

const prices = {
  scripted: { input_per_million_minor: 1_000_000, output_per_million_minor: 1_000_000, output_tokens_max: 4_096 },
};
let upstreams: Upstreams;
beforeAll(async () => {
  upstreams = await startUpstreams({ GOV_MODEL_PRICES: JSON.stringify(prices), GOV_UPSTREAM_TIMEOUT: '8s' });
});
afterAll(() => upstreams.close());

const usedTokens = 5_010;

/** Makes the model send far more than the buffers between it and a caller can contain. */
function sayMuch(): void {
  const choice = (delta: object, finish_reason: string | null) => ({ choices: [{ index: 0, delta, finish_reason }] });
  upstreams.model.follow(() => (res) => {
    const send = (event: object) => res.write(`data: ${JSON.stringify({ id: 'c', ...event })}\n\n`);
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    send({ choices: [], usage: { prompt_tokens: 10, completion_tokens: usedTokens - 10 } });
    for (let events = 0; events < 300; events += 1) send(choice({ content: 'x'.repeat(60_000) }, null));
    send(choice({}, 'stop'));
    res.end('data: [DONE]\n\n');
  });
}

/** Requests a stream and does not read it. */
async function askAndStall(session: string): Promise<Socket> {
  const { port, hostname, host } = new URL(upstreams.test.kernel.url);
  const body = JSON.stringify({
    model: 'scripted',
    max_tokens: 5_000,
    stream: true,
    messages: [{ role: 'user', content: 'x' }],
  });
  const head = [
    'POST /v1/chat/completions HTTP/1.1',
    `host: ${host}`,
    `authorization: Bearer ${adminKey}`,
    'x-gov-tenant-id: acme',
    `x-gov-session-id: ${session}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  const socket = connect(Number(port), hostname);
  socket.pause();
  await once(socket, 'connect');
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  return socket;
}

describe('a caller that stops reading its stream', () => {
  it('is disconnected at the time limit, and is charged the reservation if usage was not reported last', async () => {
    await upstreams.test.as('acme').putBudget({
      params: { budget_id: 'models' },
      body: {
        subject: 'tenant',
        window: 'total',
        currency: 'EUR',
        spend_limit_minor: 100_000,
        tool_call_limit: null,
        egress_limit_bytes: null,
        write_limit: null,
        approval_required_above_minor: null,
      },
    });
    sayMuch();
    const session = newSession();
    const socket = await askAndStall(session);
    const outcomes = async () => (await receiptsOf(upstreams.test, session)).map(({ outcome }) => outcome);
    await untilReachable(async () => (await outcomes()).length === 2);
    expect(await outcomes()).toEqual([undefined, 'failed']);
    const { body } = await upstreams.test.as('acme').listBudgets();
    expect(body.data[0]?.reserved.spend_minor).toBe(0);
    expect(body.data[0]?.used.spend_minor).toBeGreaterThanOrEqual(5_000);
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1').slice(-100)));
    socket.on('error', () => undefined);
    socket.resume();
    await untilReachable(() => Promise.resolve(socket.destroyed));
    expect(text).not.toContain('[DONE]');
  });
});
