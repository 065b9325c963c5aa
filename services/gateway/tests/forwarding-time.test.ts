import { defaultMaxListeners } from 'node:events';
import { Agent, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AppError, isAppError } from '@countersign/contracts';
import { until } from '@countersign/testkit/until';
import { createForward } from '../src/forwarding/forwarder.ts';
import { Upstream } from './_upstream.ts';

const upstream = new Upstream();
let upstreamUrl: string;

const unavailable = (cause: unknown) => new AppError('GOVERNANCE_UNAVAILABLE', 'It does not answer', { cause });

beforeAll(async () => {
  upstreamUrl = await upstream.start();
});
afterAll(() => upstream.stop());

describe('the time limit of a forwarded call', () => {
  let listenersSeen = 0;

  /** Forwards a request with these limits. Returns the answer that the caller receives. */
  async function askUnder(bounds: { silenceMaxMs: number; answerMaxMs: number }): Promise<string> {
    const agent = new Agent({ keepAlive: true });
    const forward = createForward({ url: upstreamUrl, agent, setsCookies: false, unavailable, ...bounds });
    const server = createServer((req, res) => {
      const { signal } = new AbortController();
      // `answered` is called before the answer is passed back.
      const answered = () => setImmediate(() => (listenersSeen = res.listenerCount('close')));
      const passed = { req, res, headers: {}, bodyBytesMax: 10, signal, answered };
      forward(passed).catch((error: unknown) => res.end(isAppError(error) ? error.code : String(error)));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo; // it listens on TCP
    const message = await fetch(`http://127.0.0.1:${port}/`)
      .then((response) => response.text())
      .catch(() => 'cut');
    agent.destroy();
    await new Promise((resolve) => server.close(resolve));
    return message;
  }

  it('ends an answer that does not begin, pauses or never ends, and an invalid answer ends the call at once', async () => {
    upstream.answer = () => undefined;
    expect(await askUnder({ silenceMaxMs: 100, answerMaxMs: 10_000 })).toBe('GOVERNANCE_UNAVAILABLE');
    upstream.answer = (_req, res) => res.write('begun');
    expect(await askUnder({ silenceMaxMs: 100, answerMaxMs: 10_000 })).toBe('cut');
    upstream.answer = (_req, res) => {
      const beat = setInterval(() => res.write(':'), 20); // an endless answer
      res.once('close', () => clearInterval(beat));
    };
    expect(await askUnder({ silenceMaxMs: 5_000, answerMaxMs: 150 })).toBe('cut');
    // The upstream switches to another protocol without a request.
    upstream.answer = ({ socket }) =>
      socket.write('HTTP/1.1 101 Other\r\nUpgrade: other\r\nConnection: upgrade\r\n\r\n');
    expect(await askUnder({ silenceMaxMs: 10_000, answerMaxMs: 10_000 })).toBe('GOVERNANCE_UNAVAILABLE');
    upstream.answer = ({ socket }) => socket.end('HTTP/1.1 099 None\r\nContent-Length: 2\r\n\r\n{}');
    expect(await askUnder({ silenceMaxMs: 10_000, answerMaxMs: 10_000 })).toBe('GOVERNANCE_UNAVAILABLE');
    upstream.answer = (_req, res) => res.end('whole');
    expect(await askUnder({ silenceMaxMs: 100, answerMaxMs: 150 })).toBe('whole');
  });

  it('adds few listeners to an answer, since Node warns above ten', async () => {
    upstream.answer = (_req, res) => {
      res.write('begun');
      void until(() => listenersSeen > 0).then(() => res.end());
    };
    expect(await askUnder({ silenceMaxMs: 5_000, answerMaxMs: 5_000 })).toBe('begun');
    expect(listenersSeen).toBeLessThanOrEqual(defaultMaxListeners / 2);
  });
});
