import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { slowness, workedMs } from '@countersign/testkit/worked';
import { adminKey } from './_kernel.ts';
import { startUpstreams, type Upstreams } from './_upstreams.ts';

let upstreams: Upstreams;
beforeAll(async () => {
  upstreams = await startUpstreams();
});
afterAll(() => upstreams.close());

const mebibyte = 1_048_576;
const plainBody = JSON.stringify({ model: 'scripted', messages: [{ role: 'user', content: 'go' }] });

async function ask(
  body: string | Buffer,
  more: Record<string, string> = {},
): Promise<{ status: number; text: string }> {
  const response = await fetch(`${upstreams.test.kernel.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${adminKey}`, 'x-gov-tenant-id': 'acme', 'content-type': 'application/json' },
      ...more,
    },
    body,
  });
  return { status: response.status, text: await response.text() };
}

/**
 * Measures the longest CPU time of this thread between two turns of its event loop, in ms of the reference machine.
 * Returns the shortest result of up to six tries, and stops trying after a result below `blinkMs`.
 */
async function heldUpMs(run: () => Promise<void>): Promise<number> {
  let shortestMs = Infinity;
  for (let turn = 0; turn < 6 && shortestMs >= blinkMs; turn += 1) {
    let [longestMs, last, isOver] = [0, workedMs(), false];
    const tick = () => {
      const now = workedMs();
      longestMs = Math.max(longestMs, now - last);
      last = now;
      if (!isOver) setImmediate(tick);
    };
    setImmediate(tick);
    await run();
    isOver = true;
    shortestMs = Math.min(shortestMs, longestMs / slowness());
  }
  return shortestMs;
}

function answerWith(bytes: Buffer): void {
  upstreams.model.follow(() => (res: ServerResponse) => {
    res.writeHead(200, { 'content-type': 'application/json' }).end(bytes);
  });
}

const completion = (message: string) => Buffer.from(`{"id":"x","choices":[{"index":0,"message":${message}}]}`);
const text = (letter: string, bytes: number) =>
  completion(`{"role":"assistant","content":"${letter.repeat(bytes / letter.length)}"}`);
const listOf = (value: string, bytes: number) => completion(`{"annotations":[${`${value},`.repeat(bytes / 3)}0]}`);

// An answer takes 20 to 45 ms on an idle machine, including the work of the client in this process. Without the limit,
// an answer of 32 MiB took a third of a second as text. An answer of objects took far more.
const blinkMs = 150;

describe('an answer of any size', () => {
  it.each<[string, Buffer, number]>([
    ['text of the maximum length', text('x', 4 * mebibyte - 200), 200],
    ['text of escaped characters', text(String.raw`\"`, 4 * mebibyte - 200), 200],
    ['text above the limit', text('x', 32 * mebibyte), 502],
    ['the maximum number of objects', listOf('{}', 3 * 24_000), 200],
    ['more objects than the limit', listOf('{}', 4 * mebibyte - 200), 502],
  ])('blocks no other caller with %s', async (_what, bytes, status) => {
    answerWith(bytes);
    const answered = async () => expect((await ask(plainBody)).status).toBe(status);
    expect(await heldUpMs(answered)).toBeLessThan(blinkMs);
  });

  it('blocks no other caller with many calls whose arguments have many members, first or replayed', async () => {
    const members = (count: number) =>
      JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, nth) => [`member_${nth}`, 1])));
    const calling = (count: number) =>
      Array.from({ length: 128 }, (_, nth) => ({
        ...{ id: `c${nth}`, type: 'function' },
        function: { name: 'lookup', arguments: members(count) },
      }));
    for (const [count, status] of [
      [1_900, 502],
      [380, 200],
    ] as const) {
      answerWith(completion(JSON.stringify({ role: 'assistant', tool_calls: calling(count) })));
      const key = `members-${count}`;
      const answered = async () => expect((await ask(plainBody, { 'idempotency-key': key })).status).toBe(status);
      await answered();
      expect(await heldUpMs(answered)).toBeLessThan(blinkMs);
      expect(await heldUpMs(async () => expect((await ask(plainBody)).status).toBe(status))).toBeLessThan(blinkMs);
    }
  });

  it('must be requested as a stream when it is too large to be read whole', async () => {
    for (const bytes of [text('x', 5 * mebibyte), listOf('{}', mebibyte)]) {
      answerWith(bytes);
      expect(await ask(plainBody)).toMatchObject({ status: 502, text: expect.stringContaining('as a stream') });
    }
  });

  it('may exceed the limit for whole answers when it is streamed', async () => {
    const piece = 'x'.repeat(mebibyte / 2);
    upstreams.model.follow(() => (res: ServerResponse) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let pieces = 1; pieces <= 10; pieces += 1) {
        const finish_reason = pieces === 10 ? 'stop' : null;
        const choices = [{ index: 0, delta: { content: piece }, finish_reason }];
        res.write(`data: ${JSON.stringify({ id: 'x', choices })}\n\n`);
      }
      res.end('data: [DONE]\n\n');
    });
    const { text: events } = await ask(plainBody.replace('{', '{"stream":true,'));
    expect(events.length).toBeGreaterThan(5 * mebibyte);
    expect(events.trimEnd().endsWith('[DONE]')).toBe(true);
  });

  it('ends its stream at an event with too many values', async () => {
    upstreams.model.follow(() => (res: ServerResponse) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      const logprobs = `{"content":[${'{},'.repeat(300_000)}0]}`;
      res.write(`data: {"id":"x","choices":[{"index":0,"delta":{"content":"Hi"},"logprobs":${logprobs}}]}\n\n`);
      res.end('data: [DONE]\n\n');
    });
    const { text: events } = await ask(plainBody.replace('{', '{"stream":true,'));
    expect(events).toContain('"code":"UPSTREAM_FAILED"');
    expect(events).not.toContain('"Hi"');
  });
});

describe('a request of any size', () => {
  const bodyBytes = 6 * mebibyte;
  const holding = (content: string) => `{"model":"scripted","messages":[{"role":"user","content":${content}}]}`;
  const statementOf = (unit: string) => holding(`"${unit.repeat((bodyBytes - 200) / Buffer.byteLength(unit))}"`);
  const name = String.raw`\"`.repeat(1_000);
  const names = Array.from({ length: bodyBytes / 2_100 }, (_, index) => `"${name}${index}":0`).join(',');

  it.each<[string, string, number]>([
    ['more values than the limit', `{"model":"scripted","messages":[${'{},'.repeat(2 * mebibyte)}{}]}`, 413],
    ['plain text', statementOf('xx'), 200],
    ['escaped quotes', statementOf(String.raw`\"`), 200],
    ['quotes among text', statementOf(String.raw`He said: \"no\". `), 200],
    ['escaped pairs of surrogates', statementOf(String.raw`\ud83d\ude00`), 200],
    ['letters of two bytes', statementOf('é'), 200],
    ['letters of four bytes', statementOf('😀'), 200],
    ['long names', `{"model":"scripted","messages":[],"x":{${names}}}`, 413],
  ])('blocks no other caller with %s', async (_what, body, status) => {
    upstreams.model.follow(() => (res: ServerResponse) => {
      res.writeHead(200, { 'content-type': 'application/json' }).end(completion('{"role":"assistant","content":"x"}'));
    });
    const bytes = Buffer.from(body);
    const answered = async () => expect((await ask(bytes)).status).toBe(status);
    expect(await heldUpMs(answered)).toBeLessThan(blinkMs);
  });
});
