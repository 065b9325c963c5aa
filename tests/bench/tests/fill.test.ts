import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createClient } from '@countersign/contracts';
import { createCheckpoint, putBudget } from '@countersign/contracts/governance-kernel';
import { kernelConfigFrom, startKernel } from '@countersign/governance-kernel';
import { describeStory } from '@countersign/testkit/describe-story';
import { startNoteServer } from '@countersign/testkit/mcp-server';
import { startScriptedModel } from '@countersign/testkit/scripted-model';
import { BenchDatabase } from '../src/bench-database.ts';
import { checkLedger } from '../src/check-ledger.ts';
import { Closing } from '../src/closing.ts';
import { fillBudgets, filledName } from '../src/fill-budgets.ts';
import { fillLedger } from '../src/fill-ledger.ts';
import { kernelSettings, type KernelSettings } from '../src/kernel-settings.ts';
import { chatCall, evaluateCall, type RequestKind } from '../src/requests.ts';
import { withAdmin } from '../src/with-admin.ts';

const evaluations = { sessions: '^bench-[0-9]+$', receipts: 3 };
const chats = { sessions: '^bench-chat-[0-9]+$', receipts: 4 };
const budgetTerms = {
  subject: `principal:${filledName}`,
  window: '24h' as const,
  tool_call_limit: 5,
  spend_limit_minor: null,
  currency: null,
  egress_limit_bytes: null,
  write_limit: null,
  approval_required_above_minor: null,
};

describeStory('a filled ledger', () => {
  const closing = new Closing();
  let database: BenchDatabase;
  let settings: KernelSettings;

  beforeAll(async () => {
    database = await BenchDatabase.create(closing);
    const scratchDir = mkdtempSync(join(tmpdir(), 'countersign-bench-test-'));
    closing.add(async () => rmSync(scratchDir, { recursive: true, force: true }));
    const [model, tools] = [await startScriptedModel(), await startNoteServer()];
    closing.add(() => model.close());
    closing.add(() => tools.close());
    settings = kernelSettings({ modelUrl: model.url, toolsUrl: tools.url, scratchDir });
  });

  afterAll(() => closing.close());

  async function withKernel(work: (url: string) => Promise<void>): Promise<void> {
    const environment = { ...settings.environmentFor(database.url), GOV_PORT: '0', GOV_HEALTH_PORT: '0' };
    const kernel = await startKernel(kernelConfigFrom(environment));
    try {
      await work(kernel.url);
    } finally {
      await kernel.stop();
    }
  }

  async function call(url: string, { kind, sealed }: { kind: RequestKind; sealed: number }): Promise<void> {
    const headers = { 'content-type': 'application/json', ...settings.headers };
    const answer = await fetch(url, { method: 'POST', headers, body: kind.bodyOf(0) });
    expect(await answer.text()).toContain(kind.expected);
    database.countSealed(sealed);
  }

  const evaluateOn = (url: string) => call(`${url}/api/v1/evaluate`, { kind: evaluateCall, sealed: 1 });
  const chatOn = (url: string) => call(`${url}/v1/chat/completions`, { kind: chatCall, sealed: 2 });
  const clientOn = (url: string) =>
    createClient({ createCheckpoint, putBudget }, { baseUrl: url, headers: () => settings.headers });

  async function countOf(sql: string): Promise<number> {
    const { rows } = await withAdmin(database.adminUrl, (client) => client.query<{ count: string }>(sql));
    return Number(rows[0]?.count);
  }

  it('contains copies of settled calls and of decisions, and a kernel seals new calls after them', async () => {
    await withKernel(async (url) => {
      for (let round = 0; round < 3; round += 1) await evaluateOn(url);
      for (let round = 0; round < 2; round += 1) await chatOn(url);
      await clientOn(url).createCheckpoint();
    });
    await fillLedger(database.adminUrl, [
      { pattern: chats, size: 100 },
      { pattern: evaluations, size: 200 },
    ]);
    expect(await countOf('SELECT size AS count FROM log_head')).toBeGreaterThanOrEqual(200);
    await withKernel(async (url) => {
      await evaluateOn(url);
      await chatOn(url);
    });
    expect(await checkLedger(database, settings.signingKey)).toEqual({ receipts: 10, chains: 2, verified: 10 });
    const strayHeads = `SELECT count(*) FROM session_heads h WHERE session_id LIKE 'fill-%' AND NOT EXISTS (
      SELECT 1 FROM ledger l WHERE l.session_id = h.session_id AND l.lamport_clock = h.lamport_clock
         AND l.receipt_hash = h.receipt_hash)`;
    expect(await countOf(strayHeads)).toBe(0);
    expect(await countOf(`SELECT count(*) FROM session_heads WHERE session_id LIKE 'fill-%'`)).toBeGreaterThan(50);
  });

  it('is rejected when its number of receipts differs from the answers', async () => {
    database.countSealed(1);
    await expect(checkLedger(database, settings.signingKey)).rejects.toThrow('10 receipts for answers that left 11');
    database.countSealed(-1);
  });

  it('contains copies of a budget with many other subjects, and a kernel decides with them', async () => {
    await withKernel(async (url) => {
      await clientOn(url).putBudget({ params: { budget_id: filledName }, body: budgetTerms }); // matches its schema
    });
    await fillBudgets(database.adminUrl, 40);
    // The copies differ only in their ids and subjects.
    const distinct = `SELECT count(DISTINCT to_jsonb(budgets) - 'budget_id') FROM budgets WHERE tool_call_limit = 5`;
    expect(await countOf(distinct)).toBe(41);
    await withKernel(evaluateOn);
  });
});
