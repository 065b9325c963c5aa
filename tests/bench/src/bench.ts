import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@countersign/contracts';
import { createCheckpoint, putBudget } from '@countersign/contracts/governance-kernel';
import { BenchDatabase } from './bench-database.ts';
import { closingAfter, type Closing } from './closing.ts';
import type { CallPattern } from './fill-ledger.ts';
import { kernelSettings, type KernelSettings } from './kernel-settings.ts';
import { answerTimes } from './member.ts';
import { ownBuild, startProcess, startService, type Running } from './processes.ts';
import { chatCall, evaluateCall } from './requests.ts';

/** The processes and settings that all comparisons of one run share. */
export type Bench = {
  generator: Running;
  model: Running;
  tools: Running;
  settings: KernelSettings;
  /** Contains a few hundred sealed calls of each kind. Every comparison works on its own copies. */
  seed: BenchDatabase;
  /** The folder of the build whose services are measured. */
  build: string;
} & BenchOptions;

type BenchOptions = { amqpUrl: string; queuedRuns: number };

const seedConnections = 64;
const seedCallsPerConnection = 10;
const seedCalls = seedConnections * seedCallsPerConnection;

/** The receipts of each call: one decision for an evaluation, a decision and an outcome for a chat. */
export const evaluatedCalls: CallPattern = { sessions: '^bench-[0-9]+$', receipts: seedCalls };
export const settledChats: CallPattern = { sessions: '^bench-chat-[0-9]+$', receipts: seedCalls * 2 };

export async function prepareBench(closing: Closing, options: BenchOptions): Promise<Bench> {
  const scratchDir = mkdtempSync(join(tmpdir(), 'countersign-bench-'));
  closing.add(async () => rmSync(scratchDir, { recursive: true, force: true }));
  const [generator, model, tools] = await Promise.all([
    opened(closing, startProcess('load-generator')),
    opened(closing, startProcess('model-server')),
    opened(closing, startProcess('tool-server')),
  ]);
  const settings = kernelSettings({ modelUrl: model.url, toolsUrl: tools.url, scratchDir });
  const shared = { generator, model, tools, settings, ...options };
  return await withBuild(shared, closing, ownBuild);
}

/** The same bench with the services of another build, and a seed that these services made. */
export async function withBuild(shared: Omit<Bench, 'build' | 'seed'>, closing: Closing, build: string) {
  const bench: Bench = { ...shared, build, seed: await BenchDatabase.create(closing, build) };
  await closingAfter((inner) => plantSeed(bench, inner));
  return bench;
}

async function plantSeed(bench: Bench, closing: Closing): Promise<void> {
  const { generator, settings, seed } = bench;
  const kernel = await openKernel(bench, closing, seed);
  const common = { generator, servers: [kernel], headers: settings.headers, connections: seedConnections };
  const evaluate = {
    path: '/api/v1/evaluate',
    kind: evaluateCall,
    sealing: { database: seed, receiptsPerAnswer: 1 },
  };
  const chat = {
    path: '/v1/chat/completions',
    kind: chatCall,
    sealing: { database: seed, receiptsPerAnswer: 2 },
  };
  await answerTimes({ ...common, ...evaluate }, seedCallsPerConnection);
  await answerTimes({ ...common, ...chat }, seedCallsPerConnection);
  await clientOf(bench, kernel).createCheckpoint();
}

export async function openKernel(
  { settings, build }: Bench,
  closing: Closing,
  database: BenchDatabase,
  environment: Record<string, string> = {},
): Promise<Running> {
  return await opened(
    closing,
    startService('governance-kernel', { ...settings.environmentFor(database.url), ...environment }, build),
  );
}

export async function opened(closing: Closing, starting: Promise<Running>): Promise<Running> {
  const running = await starting;
  closing.add(() => running.stop());
  return running;
}

export function clientOf({ settings }: Bench, kernel: Running) {
  return createClient({ createCheckpoint, putBudget }, { baseUrl: kernel.url, headers: () => settings.headers });
}
