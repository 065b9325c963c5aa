import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { startDeadline } from '@countersign/contracts';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { chunkBytesMax, type GovernedStream } from './govern-stream.ts';
import { malformedAnswer } from './govern-answer.ts';
import type { JsonObject } from './passive-members.ts';
import type { DecisionSummary } from './release-calls.ts';
import type { ErrorBody } from './upstream-error.ts';

/**
 * A caller that reads nothing for `silenceMs`, or not everything by `deadline`, is disconnected, since its dispatch
 * must end like any other.
 */
type RelayTerms = { deadline: AbortSignal; silenceMs: number };

type Delivered = { bytes: number; hash: string };

/** The form of a governed stream in one protocol. Each text is the data of one event. */
export type StreamForm = {
  /** Events before the answer. */
  begin(): readonly string[];
  /** Events for one event of the model: its governed chunks, and the decisions on the calls in them. */
  governed(chunks: readonly JsonObject[], decisions: readonly DecisionSummary[]): readonly string[];
  /** Events after the whole answer. */
  end(): readonly string[];
  /** Events that replace the end after an error. */
  fail(error: ErrorBody): readonly string[];
};

const done = '[DONE]';

/** OpenAI's form: one event for each governed chunk. Its SDKs throw an error that arrives after the headers. */
export const openAiStream: StreamForm = {
  begin: () => [],
  governed: (chunks) => chunks.map((chunk) => JSON.stringify(chunk)),
  end: () => [done],
  fail: (error) => [JSON.stringify(error)],
};

/**
 * Writes governed events and counts what was delivered. Throws when the upstream broke off or the caller stopped
 * reading.
 */
export class StreamRelay {
  readonly #res: ServerResponse;
  readonly #form: StreamForm;
  readonly #terms: RelayTerms;
  readonly #hash = createHash('sha256');
  #bytes = 0;

  constructor(res: ServerResponse, form: StreamForm, terms: RelayTerms) {
    this.#res = res;
    this.#form = form;
    this.#terms = terms;
  }

  /** Resolves after the `[DONE]` of the upstream. */
  async run(body: Readable, governed: GovernedStream, bytesMax: number): Promise<void> {
    await this.#write(this.#form.begin());
    for await (const data of eventsOf(body, bytesMax)) {
      if (data === done) {
        governed.assertFinished();
        return await this.#write(this.#form.end());
      }
      const decidedBefore = governed.decisions.length;
      const chunks = await governed.chunk(data);
      await this.#write(this.#form.governed(chunks, governed.decisions.slice(decidedBefore)));
    }
    throw malformedAnswer(new Error('The stream ended without [DONE]'));
  }

  /** Reports after the headers that an answer is incomplete. */
  fail(error: ErrorBody): void {
    if (this.#res.destroyed) return;
    for (const data of this.#form.fail(error)) this.#send(data);
  }

  delivered(): Delivered {
    return { bytes: this.#bytes, hash: `sha256:${this.#hash.copy().digest('hex')}` };
  }

  async #write(events: readonly string[]): Promise<void> {
    for (const data of events) {
      if (this.#res.destroyed) throw new Error('The caller went away');
      if (!this.#send(data)) await this.#drained();
    }
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

/** The data of each event. Limits the size of one event and of the whole stream. */
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
