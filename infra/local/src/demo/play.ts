import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectAgent } from './agent.ts';
import { exportChain, type Exported } from './export-chain.ts';
import { proveOffline } from './prove.ts';
import type { DemoReport } from './report.ts';
import { startSystem } from '../started-system.ts';
import { playSteps } from './steps.ts';

/** Runs the whole demo in a temporary folder. Returns the exit status. */
export async function playDemo(report: DemoReport): Promise<number> {
  const startedAt = performance.now();
  const scratch = mkdtempSync(join(tmpdir(), 'countersign-demo-'));
  // When root runs this, PostgreSQL runs under its own account and must pass through the folder.
  chmodSync(scratch, 0o711);
  let failure: string | null = null;
  try {
    report.say('Countersign: an agent works, and every call is decided, sealed and provable. Starting the system …');
    const exported = await playLive(report, join(scratch, 'data'));
    for (const step of proveOffline(exported, scratch)) report.show(step);
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  report.end({ ok: failure === null, seconds: (performance.now() - startedAt) / 1000, failure });
  return failure === null ? 0 : 1;
}

/** The steps that need the server. The server is stopped when this returns. */
async function playLive(report: DemoReport, dataDir: string): Promise<Exported> {
  layOutFiles(join(dataDir, 'files'));
  const system = await startSystem({ dataDir });
  try {
    report.say(`The model is countersign-scripted-model: it follows a script and states that in its answers.`);
    const agent = await connectAgent(system);
    await playSteps({ system, agent, show: (step) => report.show(step) });
    await agent.close();
    return await exportChain(system);
  } finally {
    await system.stop();
  }
}

function layOutFiles(folder: string): void {
  mkdirSync(join(folder, 'records'), { recursive: true });
  writeFileSync(join(folder, 'notes.md'), 'Water the plants; answer the customer.\n');
  writeFileSync(join(folder, 'letter.md'), 'Dear customer,\n');
  writeFileSync(join(folder, 'records', '2026.csv'), 'date,amount\n2026-01-02,100\n');
}
