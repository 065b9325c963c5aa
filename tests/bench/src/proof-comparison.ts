import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@countersign/contracts';
import { createCheckpoint, listTrustKeys } from '@countersign/contracts/governance-kernel';
import { openKernel, type Bench } from './bench.ts';
import type { Closing } from './closing.ts';
import type { Comparison, OpenComparison } from './comparison.ts';
import type { Measured } from './measured.ts';
import { answerTimes, type Member } from './member.ts';
import { PackSealer } from './packs/resealed-pack.ts';
import { ask, startProcess, type Running } from './processes.ts';
import type { Verified } from './processes/verifier.ts';
import { evaluateCall } from './requests.ts';
import { cpuSeconds } from './cpu-seconds.ts';

/** The export of a pack, and its verification, compared with the verification of as many bare signatures. */
export const proofComparison: Comparison = {
  groups: [['exportPack'], ['bareSignatures', 'verify100k', 'verify1m']],
  isOpenedOnce: true,
  open: openProof,
};

const [few, many] = [100_000, 1_000_000];
const connections = 64;
const callsPerConnection = 300;
const megabyte = 1e6;

async function openProof(bench: Bench, closing: Closing): Promise<OpenComparison> {
  const database = await bench.seed.copy(closing);
  const kernel = await openKernel(bench, closing, database);
  const { generator, settings } = bench;
  const load = { generator, servers: [kernel], headers: settings.headers, connections };
  const sealing = { database, receiptsPerAnswer: 1 };
  await answerTimes({ ...load, path: '/api/v1/evaluate', kind: evaluateCall, sealing }, callsPerConnection);
  const folder = mkdtempSync(join(tmpdir(), 'countersign-packs-'));
  closing.add(async () => rmSync(folder, { recursive: true, force: true }));
  const pattern = await exported(bench, kernel);
  const packs = await packsIn(folder, { bench, kernel, pattern });
  const members = {
    exportPack: exporting(bench, kernel),
    bareSignatures: verifying({ receipts: few, work: async () => ({ signatures: few }) }),
    verify100k: verifying({ receipts: few, work: () => packs(few) }),
    verify1m: verifying({ receipts: many, work: () => packs(many) }),
  };
  return { members, databases: [database] };
}

/** Returns a function that makes a pack of any size, and names the arguments of its verification. */
async function packsIn(folder: string, { bench, kernel, pattern }: { bench: Bench; kernel: Running; pattern: string }) {
  const client = createClient({ listTrustKeys }, { baseUrl: kernel.url, headers: () => bench.settings.headers });
  const sealer = new PackSealer(pattern.trimEnd().split('\n'));
  const keys = join(folder, 'keys.json');
  const { body } = await client.listTrustKeys({});
  writeFileSync(keys, JSON.stringify(sealer.keysFrom(body.keys)));
  return async (size: number) => {
    const pack = join(folder, `${size}.jsonl`);
    await sealer.write(pack, size);
    return { pack, keys };
  };
}

/** A pack of the whole log of the tenant. */
async function exported({ settings }: Bench, kernel: Running): Promise<string> {
  const client = createClient({ createCheckpoint }, { baseUrl: kernel.url, headers: () => settings.headers });
  await client.createCheckpoint();
  const headers = { ...settings.headers, 'content-type': 'application/json' };
  const answer = await fetch(`${kernel.url}/api/v1/evidence/export`, { method: 'POST', headers, body: '{}' });
  if (!answer.ok) throw new Error(`The export failed: ${answer.status} ${await answer.text()}`);
  return await answer.text();
}

/** Counts megabytes instead of answers. */
function exporting(bench: Bench, kernel: Running): Member {
  return {
    servers: [kernel],
    isWhole: true,
    tryOnce: async () => {},
    measure: async () => {
      const [startedAt, before] = [performance.now(), cpuSeconds([kernel.pid])];
      const answers = Buffer.byteLength(await exported(bench, kernel)) / megabyte;
      const after = cpuSeconds([kernel.pid]);
      const seconds = (performance.now() - startedAt) / 1_000;
      const cpu = before === null || after === null ? null : after - before;
      return wholeOf({ answers, seconds, cpu });
    },
  };
}

type Verifying = { receipts: number; work(): Promise<object> };

/** Each measurement has its own process, so that its peak memory is that of this work. */
function verifying({ receipts, work }: Verifying): Member {
  return {
    servers: [],
    isWhole: true,
    tryOnce: async () => {},
    measure: async () => {
      const question = await work();
      const verifier = await startProcess('verifier');
      try {
        const { seconds, cpuSeconds: cpu, peakMib } = await ask<Verified>(verifier, question);
        return { ...wholeOf({ answers: receipts, seconds, cpu }), peakMib };
      } finally {
        await verifier.stop();
      }
    },
  };
}

function wholeOf({ answers, seconds, cpu }: { answers: number; seconds: number; cpu: number | null }): Measured {
  const ms = seconds * 1_000;
  const cpuMicros = cpu === null ? null : (cpu * 1e6) / answers;
  return { answers, perSecond: answers / seconds, p50Ms: ms, p99Ms: ms, cpuMicros, generatorBusy: null };
}
