import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openCosignatures, parseCosignerVkey, parseVkey } from '@countersign/crypto';
import { nodeProvider as provider } from '@countersign/crypto/node';
import { runCountersign } from '../src/index.ts';
import { Witness } from '../src/witness/witness.ts';
import { openWitnessFolder } from '../src/witness/witness-folder.ts';
import { SignedLog } from './_signed-log.ts';

const name = 'witness.example/w1';
const log = new SignedLog();
let folder: string;
let stopping: AbortController;
let ended: Promise<number>;
let printed: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-witness-'));
  ended = Promise.resolve(0);
  stopping = new AbortController();
});
afterEach(async () => {
  await stop();
  rmSync(folder, { recursive: true });
});

/** Resolves to the address and the verifier key of the started command, or to its exit status. */
async function start(...argv: string[]): Promise<{ url: string; vkey: string } | number> {
  stopping = new AbortController();
  printed = '';
  return await new Promise((resolve) => {
    const io = {
      write: (words: string) => resolve({ url: /listens on (\S+)/.exec(printed)?.[1] ?? '', vkey: words.trim() }),
      tell: (words: string) => void (printed += words),
      env: {},
      stdin: (async function* () {
        // The standard input is empty.
      })(),
      signal: stopping.signal,
    };
    const options = ['--name', name, '--log', log.vkey, '--folder', folder, '--port', '0'];
    ended = runCountersign(['witness', ...options, ...argv], io);
    void ended.then(resolve);
  });
}

async function started(...argv: string[]) {
  const running = await start(...argv);
  if (typeof running === 'number') throw new Error(`It ended with ${running}: ${printed}`);
  return running;
}

async function stop() {
  stopping.abort();
  return await ended;
}

const submit = async (url: string, body: string | Uint8Array<ArrayBuffer>, init: RequestInit = {}) => {
  const answer = await fetch(`${url}/add-checkpoint`, { method: 'POST', body, ...init });
  return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() };
};
const secondsOf = (vkey: string, note: string) =>
  openCosignatures(provider, note, [parseCosignerVkey(provider, vkey)])[0]?.seconds;

describe('countersign witness', () => {
  it('cosigns checkpoints that extend each other, and serves the last one to monitors', async () => {
    const { url, vkey } = await started();
    const first = await submit(url, log.submission(0, 3));
    expect([first.status, first.text.split('\n')]).toEqual([200, [expect.stringMatching(/^— witness/), '']]);
    const second = await submit(url, log.submission(3, 8));
    const note = `${log.note(8)}${second.text}`;
    expect(secondsOf(vkey, note)).toBeGreaterThan(1_700_000_000);
    const hash = createHash('sha256').update(log.origin).digest('hex');
    expect(await (await fetch(`${url}/${hash}/checkpoint`)).text()).toBe(note);
    expect((await fetch(`${url}/${'0'.repeat(64)}/checkpoint`)).status).toBe(404);
  });

  it('answers a wrong old size with its last cosigned size', async () => {
    const { url } = await started();
    await submit(url, log.submission(0, 3));
    const conflict = { status: 409, type: 'text/x.tlog.size', text: '3\n' };
    expect(await submit(url, log.submission(0, 5))).toEqual(conflict);
    expect(await submit(url, log.submission(2, 5))).toEqual(conflict);
    expect(await submit(url, log.submission(3, 5))).toMatchObject({ status: 200 });
  });

  it('answers the same checkpoint with the same cosignature, also after a restart', async () => {
    const { url, vkey } = await started();
    const first = await submit(url, log.submission(0, 3));
    expect(await submit(url, log.submission(3, 3))).toEqual(first);
    expect(await stop()).toBe(0);
    const again = await started();
    expect(again.vkey).toBe(vkey);
    expect(await submit(again.url, log.submission(3, 3))).toEqual(first);
  });

  it('cosigns one of two trees of one size, and stores both checkpoints', async () => {
    const { url } = await started();
    await submit(url, log.submission(0, 5, 'a'));
    expect(await submit(url, log.submission(5, 5, 'b'))).toMatchObject({ status: 422 });
    await stop();
    const file = readdirSync(folder).find((each) => each.startsWith('fork-')) ?? '';
    const kept = readFileSync(join(folder, file), 'utf8');
    expect(kept).toContain(log.note(5, 'a'));
    expect(kept).toContain(log.note(5, 'b'));
    expect(printed).toContain(`The log ${log.origin} signed two trees of 5 leaves.`);
  });

  it('cosigns only one of many trees of one size that arrive together', async () => {
    const { url } = await started();
    await submit(url, log.submission(0, 2));
    const bodies = ['a', 'b', 'c', 'd', 'e', 'f'].map((branch) => log.submission(2, 6, branch));
    const answers = await Promise.all(bodies.map((body) => submit(url, body)));
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([200, 409, 409, 409, 409, 409]);
  });
});

describe('a hostile client', () => {
  it.each([
    ['a body over the limit', 'x'.repeat(70_000), 413],
    ['bytes that are not UTF-8', Uint8Array.of(0xff, 0xfe), 400],
    ['an empty body', '', 400],
    ['a byte order mark', `\uFEFF${log.submission(0, 3)}`, 400],
    ['an unknown log', new SignedLog('log.example/other').submission(0, 3), 404],
    ['a changed checkpoint', log.submission(0, 3).replace('\n3\n', '\n4\n'), 403],
  ])('gets no cosignature for %s', async (_, body, status) => {
    const { url } = await started();
    expect((await submit(url, body)).status).toBe(status);
    expect(await submit(url, log.submission(0, 2))).toMatchObject({ status: 200 });
  });

  it('gets 429 above the limit of a client, and other clients behind the trusted proxy are served', async () => {
    const { url } = await started('--limit', '2', '--trusted-proxies', '1');
    const as = (client: string) => submit(url, log.submission(0, 2), { headers: { 'x-forwarded-for': client } });
    const statuses = async (...clients: string[]) => {
      const found = [];
      for (const client of clients) found.push((await as(client)).status);
      return found;
    };
    // The client chose the first entry. Only the last one is from the proxy.
    expect(await statuses('192.0.2.9, 192.0.2.1', '192.0.2.8, 192.0.2.1', '192.0.2.7, 192.0.2.1')).toEqual([
      200, 409, 429,
    ]);
    expect(await statuses('192.0.2.2')).toEqual([409]);
    const refused = await fetch(`${url}/add-checkpoint`, { headers: { 'x-forwarded-for': '192.0.2.1' } });
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
  });

  it('cannot choose its address without a trusted proxy', async () => {
    const { url } = await started('--limit', '1');
    const as = (client: string) => submit(url, log.submission(0, 2), { headers: { 'x-forwarded-for': client } });
    expect([(await as('192.0.2.1')).status, (await as('192.0.2.2')).status]).toEqual([200, 429]);
    await stop();
    expect(await start('--limit', '0')).toBe(2);
  });

  it('gets 404 or 405 for another path or method', async () => {
    const { url } = await started();
    expect((await fetch(`${url}/add-checkpoint`)).status).toBe(405);
    for (const path of ['/', '/witness-key.json', '/../witness-key.json', '/add-checkpoint?x=1', '/cosigned.json'])
      expect((await fetch(`${url}${path}`, { method: 'POST', body: 'x' })).status).toBe(404);
  });

  it('cannot stop the witness with a longer body than announced, or by disconnecting', async () => {
    const { url } = await started();
    const { hostname, port } = new URL(url);
    const head = `POST /add-checkpoint HTTP/1.1\r\nhost: ${hostname}\r\n`;
    for (const request of [`${head}content-length: 50\r\n\r\nold`, `${head}transfer-encoding: chunked\r\n\r\nzz\r\n`]) {
      const socket = connect(Number(port), hostname);
      await new Promise<void>((resolve) => socket.write(request, () => resolve()));
      socket.destroy();
    }
    const stream = new ReadableStream({
      pull: (to) => void to.enqueue(new Uint8Array(40_000).fill(0x41)),
    });
    const endless = fetch(`${url}/add-checkpoint`, { method: 'POST', body: stream, duplex: 'half' });
    expect(await endless.then(({ status }) => status).catch(() => 413)).toBe(413);
    expect(await submit(url, log.submission(0, 2))).toMatchObject({ status: 200 });
  });
});

describe('the folder of a witness', () => {
  const refused = async (...argv: string[]) => [await start(...argv), printed];
  beforeEach(async () => {
    const { url } = await started();
    await submit(url, log.submission(0, 3));
    await stop();
  });

  it('has a key and a state that other accounts cannot read', async () => {
    for (const file of ['witness-key.json', 'cosigned.json']) expect(statSync(join(folder, file)).mode & 0o077).toBe(0);
    chmodSync(join(folder, 'witness-key.json'), 0o644);
    expect(await refused()).toEqual([2, expect.stringContaining('Other accounts may read the key')]);
  });

  it('is used by one process at a time', async () => {
    const holder = await openWitnessFolder({ path: folder, name });
    expect(await refused()).toEqual([2, expect.stringContaining(`The process ${process.pid}`)]);
    await holder.close();
    expect(await submit((await started()).url, log.submission(3, 4))).toMatchObject({ status: 200 });
  });

  it.each([
    ['without its state', () => rmSync(join(folder, 'cosigned.json')), 'cosigned.json is lost'],
    ['with a damaged state', () => writeFileSync(join(folder, 'cosigned.json'), '{'), 'cosigned.json is damaged'],
    [
      'with a changed size in its state',
      () => {
        const file = join(folder, 'cosigned.json');
        writeFileSync(file, readFileSync(file, 'utf8').replace('\\n3\\n', '\\n2\\n'));
      },
      'cosigned.json is damaged',
    ],
    ['without its key', () => rmSync(join(folder, 'witness-key.json')), 'has no key'],
    ['with a damaged key', () => writeFileSync(join(folder, 'witness-key.json'), 'PRIVATE'), 'is damaged'],
  ])('is refused: %s', async (_, change, words) => {
    change();
    expect(await refused()).toEqual([2, expect.stringContaining(words)]);
  });

  it('is refused for a witness with a different name, and for a witness without a log', async () => {
    expect(await refused('--name', 'another.example/w1')).toEqual([2, expect.stringContaining(`belongs to ${name}`)]);
    const argv = ['witness', '--name', name, '--folder', folder];
    expect(await runCountersign(argv, { ...quiet(), signal: AbortSignal.abort() })).toBe(2);
  });
});

describe('a witness', () => {
  it('cosigns nothing after a failed write until its restart', async () => {
    const opened = await openWitnessFolder({ path: folder, name });
    const deps = { logs: [parseVkey(provider, log.vkey)], clock: () => new Date(), onFork: () => Promise.resolve() };
    const failing = { ...opened, save: () => Promise.reject(new Error('no space left on device')) };
    const witness = new Witness({ ...deps, folder: failing });
    await expect(witness.submit(log.submission(0, 2))).rejects.toThrow('no space');
    expect(await witness.submit(log.submission(0, 2))).toMatchObject({ kind: 'unavailable' });
    await opened.close();
  });

  it('answers the second of two trees of one size only after their proof is stored', async () => {
    const opened = await openWitnessFolder({ path: folder, name });
    let store = (): void => undefined;
    const stored = new Promise<void>((resolve) => (store = resolve));
    const deps = { logs: [parseVkey(provider, log.vkey)], clock: () => new Date(), onFork: () => stored };
    const witness = new Witness({ ...deps, folder: opened });
    await witness.submit(log.submission(0, 5, 'a'));
    let isAnswered = false;
    const answer = witness.submit(log.submission(5, 5, 'b')).finally(() => (isAnswered = true));
    await new Promise(setImmediate); // enough time for an answer that does not wait for the proof
    expect(isAnswered).toBe(false);
    store();
    expect(await answer).toMatchObject({ kind: 'refused' });
    await opened.close();
  });

  it('never dates a cosignature before its previous one', async () => {
    const opened = await openWitnessFolder({ path: folder, name });
    let now = new Date('2026-11-01T12:00:00Z');
    const deps = { logs: [parseVkey(provider, log.vkey)], clock: () => now, onFork: () => Promise.resolve() };
    const witness = new Witness({ ...deps, folder: opened });
    expect(await witness.submit(log.submission(0, 2))).toMatchObject({ kind: 'cosigned' });
    now = new Date('2026-11-01T11:00:00Z');
    expect(await witness.submit(log.submission(2, 4))).toMatchObject({ kind: 'unavailable' });
    now = new Date('2026-11-01T12:00:01Z');
    expect(await witness.submit(log.submission(2, 4))).toMatchObject({ kind: 'cosigned' });
    await opened.close();
  });
});

function quiet() {
  return {
    ...{ write: () => undefined, tell: () => undefined, env: {} },
    stdin: (async function* () {
      // The standard input is empty.
    })(),
  };
}
