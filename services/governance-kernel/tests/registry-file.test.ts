import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { nodeProvider } from '@countersign/crypto/node';
import { createLogger } from '@countersign/service-kit';
import { verifies } from '@countersign/testkit/verifies';
import { controls } from '../src/controls.ts';
import { keysPathOf } from '../src/local/boundary-keys.ts';
import { verifyRegistry } from '../src/local/file-evidence.ts';
import { openCore } from '../src/local/open-core.ts';
import { acquireFileLock } from '../src/local/registry-file/file-lock.ts';
import { RegistryFile } from '../src/local/registry-file/registry-file.ts';
import { governed } from './_memory-boundary.ts';

const writer = fileURLToPath(new URL('_registry-writer.mjs', import.meta.url));

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'registry-file-'));
  path = join(folder, 'boundary', 'surfaces.json');
});

afterEach(async () => await rm(folder, { recursive: true, force: true }));

type Ended = { places: number[]; signal: string | null; problem: string };

/** Decides in a separate process. */
async function decideIn(sessions: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  const child = spawn(process.execPath, [writer, path, ...sessions], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [output, problem] = ['', ''];
  child.stdout.on('data', (data) => (output += String(data)));
  child.stderr.on('data', (data) => (problem += String(data)));
  const [, signal] = (await once(child, 'close')) as [number | null, string | null];
  return { places: output.split('\n').filter(Boolean).map(Number), signal, problem };
}

/** Decides in this process, like a separate invocation. */
async function decide(...sessions: readonly string[]): Promise<number[]> {
  const core = await openCore({ ...where, path, log });
  const places = [];
  for (const session of sessions) {
    const { reply } = await core.boundary.decide(governed({ session }));
    places.push(reply.log_index);
  }
  return places;
}

const where = { publicUrl: 'http://127.0.0.1:7714', logOrigin: 'countersign.local/boundary' };
const log = createLogger({ service: 'registry-file', level: 'error', silent: true, layout: 'json' });
const opened = () => new RegistryFile({ path, provider: nodeProvider, controls, lockWaitMs: 100 });
const sessionsIn = async () => (await opened().read()).log.map(({ content }) => content.session_id);

describe('a process that is killed while it changes the file', () => {
  const leavesOld = ['locked', 'read', 'created', 'written', 'synced'] as const;
  const leavesNew = ['renamed', 'folder_synced'] as const;

  for (const step of [...leavesOld, ...leavesNew])
    verifies(
      'kn.registry.file',
      `at the step ${step} leaves the old or the new state, and the next invocation continues`,
      async () => {
        expect(await decide('before')).toEqual([0]);
        const killed = await decideIn(['killed'], { DIE_AT: step });
        expect(killed).toMatchObject({ signal: 'SIGKILL', places: [] });
        const isOld = leavesOld.some((old) => old === step);
        const sealed = isOld ? ['before'] : ['before', 'killed'];
        expect(await sessionsIn()).toEqual(sealed);
        expect(await decide('after')).toEqual([sealed.length]);
        expect(await sessionsIn()).toEqual([...sealed, 'after']);
      },
    );
});

verifies('kn.registry.file', 'simultaneous invocations change the file one after the other', async () => {
  await decide('first');
  const writers = ['a', 'b', 'c', 'd'].map((name) => decideIn([`${name}1`, `${name}2`, `${name}3`, 'common']));
  const ended = await Promise.all(writers);
  expect(ended.map(({ problem }) => problem)).toEqual(['', '', '', '']);
  const places = ended.flatMap((one) => one.places).toSorted((a, b) => a - b);
  expect(places).toEqual(Array.from({ length: 16 }, (_, nth) => nth + 1));
  const { heads } = await opened().read();
  expect([...heads.values()].find(({ session }) => session === 'common')?.lamport).toBe(4);
});

describe('a damaged file', () => {
  const damages: readonly [string, (text: string) => string, RegExp][] = [
    ['is truncated', (text) => text.slice(0, -20), /damaged at the document/],
    ['is empty', () => '', /damaged at the document/],
    [
      'has an unknown member',
      (text) => text.replace('{', '{"more":1,'),
      /damaged at the document: Unrecognized key: "more"/,
    ],
    ['has another format', (text) => text.replace('registry-file.v1', 'registry-file.v9'), /damaged at format/],
    ['has a changed receipt', (text) => text.replace('before', 'behind'), /damaged at ledger\.0\.receipt_hash/],
    ['has a negative epoch', (text) => text.replace(/"epoch":\d+/, '"epoch":-1'), /damaged at epoch/],
    ['has an unknown table', (text) => text.replace('"tables":{', '"tables":{"spies":[]'), /damaged at tables\.spies/],
    [
      'has a malformed row',
      (text) => text.replace('"tables":{', '"tables":{"fences":[{}]'),
      /damaged at tables\.fences\.0/,
    ],
  ];
  it.each(damages)(
    'that %s is rejected with the name of the damaged member, and is never overwritten',
    async (_name, damage, problem) => {
      await decide('before');
      const damaged = damage(await readFile(path, 'utf8'));
      await writeFile(path, damaged);
      await expect(opened().read()).rejects.toThrow(problem);
      await expect(opened().change((state) => ({ state, result: null }))).rejects.toThrow(problem);
      await expect(decide('after')).rejects.toThrow(problem);
      expect(await readFile(path, 'utf8')).toBe(damaged);
    },
  );
});

it('the file is written with mode 0600 and leaves no temporary file', async () => {
  await decide('one', 'two');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await readdir(dirname(path))).toSorted()).toEqual([
    'surfaces.json',
    'surfaces.json.lock',
    'surfaces.keys.json',
  ]);
});

it('the error for a locked file names the process that holds the lock', async () => {
  const release = await acquireFileLock(`${path}.lock`, { waitMs: 0 });
  await expect(opened().change((state) => ({ state, result: null }))).rejects.toThrow(
    new RegExp(`The process ${process.pid} on .* holds the lock .*`),
  );
  await release();
  await expect(opened().change((state) => ({ state, result: 'done' }))).resolves.toBe('done');
});

it('a change that throws leaves the file unchanged', async () => {
  await decide('before');
  const before = await readFile(path, 'utf8');
  const failing = opened().change(() => {
    throw new Error('no change');
  });
  await expect(failing).rejects.toThrow('no change');
  expect(await readFile(path, 'utf8')).toBe(before);
});

it('verification reports a record that was not sealed, and a checkpoint of a different tree', async () => {
  await decide('one', 'two');
  const verified = async () => {
    const core = await openCore({ ...where, path, log });
    await core.checkpoints.create();
    return (await verifyRegistry(await openCore({ ...where, path, log }))).problems;
  };
  expect(await verified()).toEqual([]);
  const sound = await opened().read();
  const [first] = sound.log;
  if (first?.record === undefined || first.record === null) throw new Error('The decision has a record');
  const forged = { ...first, record: first.record.replace('files.read', 'files.send') };
  const checkpoints = sound.checkpoints.map((head) => ({ ...head, root_hash: forged.receipt_hash }));
  await opened().change((state) => ({
    state: { ...state, log: [forged, ...state.log.slice(1)], checkpoints },
    result: null,
  }));
  const { problems } = await verifyRegistry(await openCore({ ...where, path, log }));
  expect(problems).toEqual([
    'ledger.0: the record is not the record that the receipt names',
    'checkpoints.0: the note is not signed by the key of this file',
    'checkpoints.0: the root is not the root of the receipts',
  ]);
});

it('no new keys are created for a file that lost its keys, and keys that others can read are refused', async () => {
  await decide('before');
  await chmod(keysPathOf(path), 0o644);
  await expect(decide('after')).rejects.toThrow(/Other accounts may read the keys/);
  await rm(keysPathOf(path));
  await expect(decide('after')).rejects.toThrow(/has no keys/);
});
