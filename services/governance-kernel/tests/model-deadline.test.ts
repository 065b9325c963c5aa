import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { holdTimers, type HeldTimers } from '@countersign/testkit/held-timers';
import { createModelUpstream } from '../src/doors/chat/model-upstream.ts';
import { bodyHash } from '../src/doors/chat/body-hash.ts';

const times = { timeoutMs: 60_001, streamMs: 300_001 };
const permit = { mayStillSend: () => null, take: () => ({ args: { body_hash: bodyHash(body) } }) } as never; // only the members read
const body = Buffer.from('{}');

let server: Server;
beforeAll(async () => {
  server = createServer((_req, res) => res.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(async () => {
  server.close();
  await once(server, 'close');
});

it('the deadline signal of an answer aborts when the caller leaves, even after the answer was read', async () => {
  const { port } = server.address() as AddressInfo; // a TCP server has such an address
  const upstream = createModelUpstream({ url: `http://127.0.0.1:${port}/v1`, apiKey: null, ...times });
  const caller = new AbortController();
  const answer = await upstream.send(permit, { body, stream: false, traceparent: '', signal: caller.signal });
  if (answer.kind !== 'answered') throw new Error('The model did not answer');
  const closed = once(answer.body, 'close');
  answer.body.resume();
  await closed;
  caller.abort();
  expect(answer.deadline.aborted).toBe(true);
  await upstream.close();
});

describe('the time limit of an answer', () => {
  let timers: HeldTimers;
  beforeEach(() => {
    timers = holdTimers(Object.values(times));
  });
  afterEach(() => timers.release());

  async function answered(stream: boolean) {
    const { port } = server.address() as AddressInfo; // a TCP server has such an address
    const upstream = createModelUpstream({ url: `http://127.0.0.1:${port}/v1`, apiKey: null, ...times });
    const { signal } = new AbortController();
    const answer = await upstream.send(permit, { body, stream, traceparent: '', signal });
    if (answer.kind !== 'answered') throw new Error('The model did not answer');
    return { answer, upstream };
  }

  it('equals the silence limit when the answer is not streamed', async () => {
    const { answer, upstream } = await answered(false);
    timers.pass(times.timeoutMs - 1);
    expect(answer.deadline.aborted).toBe(false);
    timers.pass(1);
    expect(answer.deadline.aborted).toBe(true);
    await upstream.close();
  });

  it('equals the longer stream limit when the answer is streamed', async () => {
    const { answer, upstream } = await answered(true);
    expect(answer.silenceMs).toBe(times.timeoutMs);
    timers.pass(times.streamMs - 1);
    expect(answer.deadline.aborted).toBe(false);
    timers.pass(1);
    expect(answer.deadline.aborted).toBe(true);
    await upstream.close();
  });
});
