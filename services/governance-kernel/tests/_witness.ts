import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import {
  formatCheckpoint,
  formatSubmission,
  formatVkey,
  noteKey,
  parseCheckpoint,
  signNote,
  splitNote,
} from '@countersign/crypto';
import { nodeProvider as provider } from '@countersign/crypto/node';
import { createSigner, generateSigningKey } from '@countersign/crypto/signing';
import { runCountersign } from '../../../packages/cli/src/index.ts';

export type ScriptedWitness = {
  url: string;
  vkey: string;
  /** The environment of a kernel whose log this witness accepts. */
  env: Record<string, string>;
  /** The tree sizes of the cosigned checkpoints, in order. */
  sizes: number[];
  /** The answer of the witness: correct, status 503, a false signature, or none although it has cosigned. */
  mode: 'well' | 'away' | 'false' | 'forgetful';
  /** Submits a checkpoint of another tree, signed with the log's key. Resolves to the HTTP status. */
  forge(size: number): Promise<number>;
  close(): Promise<void>;
};

const name = 'witness.example.org/w1';
const origin = 'kernel.test/log';

/** Starts `countersign witness` behind a proxy that can lose or change answers. */
export async function startWitness(): Promise<ScriptedWitness> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-witness-'));
  const { privateKeyPem: logKey } = generateSigningKey();
  const logVkey = formatVkey(noteKey(provider, origin, createSigner(logKey).publicKey));
  const command = await startCommand(['--name', name, '--log', logVkey, '--folder', folder, '--port', '0']);
  const server = createServer((req, res) => {
    void text(req).then(async (body) => {
      if (witness.mode === 'away') return res.writeHead(503).end();
      const answer = await fetch(`${command.url}${req.url}`, { method: 'POST', body });
      const answered = await answer.text();
      if (answer.status === 200) witness.sizes.push(sizeOf(body));
      if (witness.mode === 'forgetful') return req.socket.destroy();
      const reply = witness.mode === 'false' && answer.status === 200 ? changed(answered) : answered;
      return res.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' }).end(reply);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // the server listens on TCP
  const witness: ScriptedWitness = {
    ...{ url, vkey: command.vkey, sizes: [], mode: 'well' },
    forge: (size) => forge(`${command.url}/add-checkpoint`, { size, logKey }),
    env: {
      GOV_WITNESS_URL: `${url}/`,
      GOV_WITNESS_KEY: command.vkey,
      GOV_LOG_KEY: logKey,
      GOV_LOG_ORIGIN: origin,
    },
    close: async () => {
      await new Promise<void>((resolve) => void server.close(() => resolve()));
      await command.stop();
      rmSync(folder, { recursive: true });
    },
  };
  return witness;
}

async function startCommand(argv: string[]) {
  const stopping = new AbortController();
  let printed = '';
  let ended: Promise<number> = Promise.resolve(0);
  const vkey = await new Promise<string>((resolve, reject) => {
    const io = {
      write: (words: string) => resolve(words.trim()),
      tell: (words: string) => void (printed += words),
      env: {},
      stdin: (async function* () {
        // Standard input is empty.
      })(),
      signal: stopping.signal,
    };
    ended = runCountersign(['witness', ...argv], io);
    void ended.then((status) => reject(new Error(`It ended with ${status}: ${printed}`)));
  });
  const url = /listens on (\S+)/.exec(printed)?.[1] ?? '';
  const stop = async () => {
    stopping.abort();
    await ended;
  };
  return { url, vkey, stop };
}

async function forge(url: string, { size, logKey }: { size: number; logKey: string }): Promise<number> {
  const checkpoint = formatCheckpoint({ origin, size, root: new Uint8Array(32).fill(9) });
  const note = signNote(provider, checkpoint, [{ name: origin, signer: createSigner(logKey) }]);
  const answer = await fetch(url, { method: 'POST', body: formatSubmission({ old: 0, proof: [], note }) });
  await answer.text();
  return answer.status;
}

function sizeOf(body: string): number {
  return parseCheckpoint(splitNote(body.slice(body.indexOf('\n\n') + 2)).text).size;
}

function changed(line: string): string {
  const place = line.length - 20;
  return `${line.slice(0, place)}${line[place] === 'A' ? 'B' : 'A'}${line.slice(place + 1)}`;
}
