import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createModelUpstream } from '../src/chat/model-upstream.ts';
import { bodyHash } from '../src/chat/body-hash.ts';

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

it('the deadline of an answer hears that the caller left, also once the answer has been read', async () => {
  const { port } = server.address() as AddressInfo; // a TCP server has such an address
  const upstream = createModelUpstream({ url: `http://127.0.0.1:${port}/v1`, apiKey: null, timeoutMs: 60_000 });
  const body = Buffer.from('{}');
  const permit = { mayStillSend: () => null, take: () => ({ args: { body_hash: bodyHash(body) } }) } as never; // what is read of it
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
