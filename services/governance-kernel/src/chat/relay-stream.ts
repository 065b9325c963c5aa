import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { startDeadline } from '@countersign/contracts';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { chunkBytesMax, type GovernedStream } from './govern-stream.ts';
import { malformedAnswer } from './govern-answer.ts';

/** A caller that reads nothing for `silenceMs`, or not all by `deadline`, is cut off: its dispatch must end like any other. */
type RelayTerms = { deadline: AbortSignal; silenceMs: number };

type Delivered = { bytes: number; hash: string };

const done = '[DONE]';

/** Writes governed events and counts what was delivered. Throws when the upstream broke off or the caller stopped reading. */
export class StreamRelay {
  readonly #res: ServerResponse;
  readonly #terms: RelayTerms;
  readonly #hash = createHash('sha256');
  #bytes = 0;

  constructor(res: ServerResponse, terms: RelayTerms) {
    this.#res = res;
    this.#terms = terms;
  }

  /** Resolves when the upstream said it is done. */
  async run(body: Readable, governed: GovernedStream, bytesMax: number): Promise<void> {
    for await (const data of eventsOf(body, bytesMax)) {
      if (data === done) {
        governed.assertFinished();
        return await this.#write(done);
      }
      for (const chunk of await governed.chunk(data)) await this.#write(JSON.stringify(chunk));
    }
    throw malformedAnswer(new Error('The stream ended without [DONE]'));
  }

  /** The one way to say after the head that an answer is not whole: SDKs throw it. */
  fail(error: object): void {
    if (!this.#res.destroyed) this.#send(JSON.stringify(error));
  }

  delivered(): Delivered {
    return { bytes: this.#bytes, hash: `sha256:${this.#hash.copy().digest('hex')}` };
  }

  async #write(data: string): Promise<void> {
    if (this.#res.destroyed) throw new Error('The caller went away');
    if (!this.#send(data)) await this.#drained();
  }

  #send(data: string): boolean {
    const text = `data: ${data}\n\n`;
    this.#hash.update(text);
    this.#bytes += Buffer.byteLength(text);
    return this.#res.write(text);
  }

  async #drained(): Promise<void> {
    const patience = startDeadline({ ms: this.#terms.silenceMs, signal: this.#terms.deadline });
    const drained = new AbortController();
    const signal = AbortSignal.any([patience.signal, drained.signal]);
    try {
      await Promise.race([once(this.#res, 'drain', { signal }), once(this.#res, 'close', { signal })]);
    } catch (cause) {
      this.#res.destroy();
      throw new Error('The caller stopped reading', { cause });
    } finally {
      patience.clear();
      drained.abort();
    }
  }
}

/** The data of each event. Bounded in the size of one event and of all. */
async function* eventsOf(body: Readable, bytesMax: number): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let pending: EventSourceMessage[] = [];
  const parsing: { fault: Error | null } = { fault: null };
  const parser = createParser({
    maxBufferSize: chunkBytesMax,
    onEvent: (event) => void pending.push(event),
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') parsing.fault = error;
    },
  });
  let bytes = 0;
  for await (const chunk of body) {
    const buffer = Buffer.from(chunk);
    bytes += buffer.byteLength;
    if (bytes > bytesMax) throw malformedAnswer(new Error(`The stream has more than ${bytesMax} bytes`));
    parser.feed(decoder.decode(buffer, { stream: true }));
    if (parsing.fault !== null) throw malformedAnswer(parsing.fault);
    const events = pending;
    pending = [];
    for (const { data } of events) yield data;
  }
}
