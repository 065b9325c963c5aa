// Sends one prepared request per connection over and over, and counts the answers. It speaks HTTP/1.1 on bare sockets,
// since a client that parses every header would cost as much as the measured servers. At the deadline it stops sending
// and waits for every open answer. The answers can then be compared with the sealed receipts, one to one.
import { connect } from 'node:net';
import { cpuSeconds } from '../cpu-seconds.ts';
import { summarise } from '../latencies.ts';
import type { Load, LoadRequest, LoadResult } from '../load.ts';
import { AnswerReader } from './answer-reader.ts';

/** A server that leaves a request unanswered for this long after the deadline is stuck, not slow. */
const lastAnswersMs = 30_000;

type State = {
  latenciesMs: number[];
  statuses: Record<string, number>;
  deadline: number;
  answersMax: number;
};

process.on('message', (message) => {
  run(message as Load).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.once('disconnect', () => process.exit());
process.send?.({ url: '' });

async function run({ requests, headers, seconds, answersPerConnectionMax }: Load): Promise<LoadResult> {
  const state: State = {
    latenciesMs: [],
    statuses: {},
    deadline: performance.now() + seconds * 1_000,
    answersMax: answersPerConnectionMax ?? Number.POSITIVE_INFINITY,
  };
  const cpuBefore = cpuSeconds([process.pid]);
  const startedAt = performance.now();
  await Promise.all(requests.map((request) => drive(new URL(request.url), requestBytes(request, headers), state)));
  const elapsedMs = performance.now() - startedAt;
  const cpuAfter = cpuSeconds([process.pid]);
  return {
    ...summarise(state.latenciesMs, elapsedMs),
    statuses: state.statuses,
    generatorBusy: cpuBefore === null || cpuAfter === null ? null : (cpuAfter - cpuBefore) / (elapsedMs / 1_000),
  };
}

function requestBytes({ method, url, body }: LoadRequest, headers: Record<string, string>): Buffer {
  const { host, pathname, search } = new URL(url);
  const about = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) };
  const all = { host, ...headers, ...(method === 'POST' ? about : {}) };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${pathname}${search} HTTP/1.1\r\n${head.join('')}\r\n${body}`);
}

function drive({ hostname, port }: URL, request: Buffer, state: State): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    const reader = new AnswerReader();
    let [sentAt, answers, isDone] = [0, 0, false];
    const stuck = setTimeout(
      () => socket.destroy(new Error('An answer never came')),
      state.deadline - performance.now() + lastAnswersMs,
    );
    const send = () => {
      sentAt = performance.now();
      socket.write(request);
    };
    socket.once('connect', send);
    socket.on('data', (chunk) => {
      const status = reader.take(chunk);
      if (status === null) return;
      const now = performance.now();
      state.latenciesMs.push(now - sentAt);
      state.statuses[status] = (state.statuses[status] ?? 0) + 1;
      answers += 1;
      isDone = now >= state.deadline || answers >= state.answersMax;
      if (isDone) socket.end();
      else send();
    });
    socket.once('error', reject);
    socket.once('close', () => {
      clearTimeout(stuck);
      if (isDone) resolve();
      else reject(new Error(`${hostname}:${port} closed a connection before it had answered`));
    });
  });
}
