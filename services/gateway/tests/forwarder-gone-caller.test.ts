import { once } from 'node:events';
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { AppError } from '@countersign/contracts';
import { createForward } from '../src/forwarding/forwarder.ts';

const minuteMs = 60_000;
const agent = new Agent();
const server = createServer();
const unavailable = () => new AppError('CONTROL_PLANE_UNAVAILABLE', 'not reached');

afterEach(() => {
  agent.destroy();
  server.close();
});

it('forwarding ends at once, without a call to the other service, when the caller left before it began', async () => {
  let reached = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const caller = request(url).on('error', () => undefined);
  caller.end();
  const [req, res] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
  server.on('request', () => void (reached += 1));
  caller.destroy();
  await once(res, 'close');
  const times = { silenceMaxMs: minuteMs, answerMaxMs: minuteMs };
  const { signal } = new AbortController();
  const forward = createForward({ url, agent, ...times, setsCookies: false, unavailable });
  await forward({ req, res, headers: {}, bodyBytesMax: 0, signal, answered: () => undefined });
  expect(reached).toBe(0);
});
