// Sends one prepared request per connection over and over, and counts what comes back. It speaks HTTP/1.1 on bare sockets: a client
// that parses every header would cost as much as the servers it measures. It stops sending at the deadline and then waits for
// every open answer, so that what was answered can be compared with what was sealed, one to one.
import { connect } from 'node:net';
import { cpuSeconds } from '../cpu-seconds.mjs';

const headEnd = Buffer.from('\r\n\r\n');
const lastChunk = Buffer.from('\r\n0\r\n\r\n');

process.on('message', (load) => {
  run(load).then(
    (result) => process.send({ result }),
    (error) => process.send({ error: String(error) }),
  );
});
process.once('disconnect', () => process.exit());
process.send({ ready: true });

/** @param {{ url: string, headers: Record<string, string>, bodies: string[], seconds: number }} load one body per connection */
async function run({ url, headers, bodies, seconds }) {
  const target = new URL(url);
  const state = { latenciesMs: [], statuses: {}, deadline: performance.now() + seconds * 1_000 };
  const cpuBefore = cpuSeconds(process.pid);
  const startedAt = performance.now();
  await Promise.all(bodies.map((body) => drive(target, requestBytes(target, headers, body), state)));
  const elapsedSeconds = (performance.now() - startedAt) / 1_000;
  const sorted = Float64Array.from(state.latenciesMs).sort();
  const quantile = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return {
    answers: sorted.length,
    statuses: state.statuses,
    perSecond: sorted.length / elapsedSeconds,
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
    generatorBusy: cpuBefore === null ? null : (cpuSeconds(process.pid) - cpuBefore) / elapsedSeconds,
  };
}

function requestBytes({ host, pathname }, headers, body) {
  const all = {
    host,
    'content-type': 'application/json',
    ...headers,
    'content-length': String(Buffer.byteLength(body)),
  };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`POST ${pathname} HTTP/1.1\r\n${head.join('')}\r\n${body}`);
}

function drive({ hostname, port }, request, state) {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    const reader = new AnswerReader();
    let sentAt = 0;
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
      if (now < state.deadline) send();
      else socket.end();
    });
    socket.once('error', reject);
    socket.once('close', resolve);
  });
}

/** Finds the end of one answer: by its content-length, or by its last chunk. */
class AnswerReader {
  #head = null;
  #status = null;
  /** Body bytes still to come; null while the body is chunked. */
  #missing = 0;
  #tail = Buffer.alloc(0);

  /** The status when the answer is complete, else null. */
  take(chunk) {
    if (this.#status !== null) return this.#takeBody(chunk);
    const bytes = this.#head === null ? chunk : Buffer.concat([this.#head, chunk]);
    const end = bytes.indexOf(headEnd);
    if (end === -1) {
      this.#head = bytes;
      return null;
    }
    this.#head = null;
    const head = bytes.latin1Slice(0, end);
    this.#status = head.slice(9, 12);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    this.#missing = length === undefined ? null : Number(length);
    return this.#takeBody(bytes.subarray(end + (length === undefined ? 2 : headEnd.length)));
  }

  #takeBody(bytes) {
    if (this.#missing === null) this.#tail = Buffer.concat([this.#tail.subarray(-lastChunk.length), bytes]);
    else this.#missing -= bytes.length;
    const isComplete =
      this.#missing === null ? this.#tail.subarray(-lastChunk.length).equals(lastChunk) : this.#missing <= 0;
    if (!isComplete) return null;
    const status = this.#status;
    this.#status = null;
    this.#tail = Buffer.alloc(0);
    return status;
  }
}
