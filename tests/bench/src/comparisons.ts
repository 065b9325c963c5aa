import { clientOf, evaluatedCalls, openKernel, opened, settledChats, type Bench } from './bench.ts';
import { closingAfter, type Closing } from './closing.ts';
import { commercialComparison } from './commercial-comparison.ts';
import type { Comparison, OpenComparison } from './comparison.ts';
import { openCommitFloor } from './commit-floor.ts';
import { fillBudgets, filledName } from './fill-budgets.ts';
import { fillLedger, type LedgerFill } from './fill-ledger.ts';
import { chatting, evaluating, toolCalling } from './governed-member.ts';
import { gatewayComparisons } from './gateway-comparisons.ts';
import { commitMember, inSequence, loadMember } from './member.ts';
import { startProcess, type Running } from './processes.ts';
import { proofComparison } from './proof-comparison.ts';
import { chatCall, echoedCall, toolCall } from './requests.ts';
import { sandboxComparison } from './sandbox-comparison.ts';
import { scanComparison } from './scan/scan-comparison.ts';

export const comparisons: readonly Comparison[] = [
  {
    groups: [
      ['nodeEcho', 'expressEcho', 'signingEcho', 'evaluate'],
      ['signedCommit', 'evaluateAlone'],
    ],
    open: openEvaluate,
  },
  { groups: [['chatDirect', 'chat', 'evaluateBesideChat']], open: openChat },
  {
    groups: [
      ['mcpDirect', 'mcp', 'evaluateBesideMcp'],
      ['mcpDirectAlone', 'mcpAlone'],
    ],
    open: openMcp,
  },
  sandboxComparison,
  { groups: [['noBudgets', 'manyBudgets']], open: openBudgets },
  {
    groups: [
      ['chatFresh', 'chatSettled'],
      ['receipts10k', 'receipts1m'],
    ],
    isOpenedOnce: true,
    open: openGrown,
  },
  { groups: [['oneReplica', 'twoReplicas']], open: openReplicas },
  commercialComparison,
  proofComparison,
  scanComparison,
  ...gatewayComparisons,
];

const budgetCount = 10_000;
const settledCount = 300_000;
const receiptsFew = 10_000;
const receiptsMany = 1_000_000;

/**
 * Checkpoints are off. Their cost depends on the log's size at the start, and would distort comparisons of logs of
 * different sizes.
 */
const noCheckpoints = { GOV_CHECKPOINT_RECEIPTS: '1000000', GOV_CHECKPOINT_INTERVAL: '24h' };

async function openEvaluate(bench: Bench, closing: Closing): Promise<OpenComparison> {
  const echo = async (kind: string) => await opened(closing, startProcess('echo-server', [kind]));
  const echoing = (server: Running, connections = 64) =>
    loadMember({ generator: bench.generator, servers: [server], path: '/echo', kind: echoedCall, connections });
  const signing = await echo('signing');
  const { database, kernel } = await openFresh(bench, closing);
  const floor = await openCommitFloor(database.adminUrl);
  closing.add(() => floor.close());
  const members = {
    nodeEcho: echoing(await echo('node')),
    expressEcho: echoing(await echo('express')),
    signingEcho: echoing(signing),
    evaluate: evaluating(bench, database, [kernel]),
    signedCommit: inSequence([echoing(signing, 1), commitMember(floor)]),
    evaluateAlone: evaluating(bench, database, [kernel], 1),
  };
  return { members, databases: [database] };
}

async function openChat(bench: Bench, closing: Closing): Promise<OpenComparison> {
  const { database, kernel } = await openFresh(bench, closing);
  const { generator, model } = bench;
  const path = `${new URL(model.url).pathname}/chat/completions`;
  const members = {
    chatDirect: loadMember({ generator, servers: [model], path, kind: chatCall, connections: 64 }),
    chat: chatting(bench, database, kernel),
    evaluateBesideChat: evaluating(bench, database, [kernel]),
  };
  return { members, databases: [database] };
}

async function openMcp(bench: Bench, closing: Closing): Promise<OpenComparison> {
  const { database, kernel } = await openFresh(bench, closing);
  const { generator, tools } = bench;
  const direct = (connections: number) =>
    loadMember({ generator, servers: [tools], path: new URL(tools.url).pathname, kind: toolCall('fill'), connections });
  const members = {
    mcpDirect: direct(16),
    mcp: toolCalling(bench, database, kernel, { connections: 16 }),
    evaluateBesideMcp: evaluating(bench, database, [kernel]),
    mcpDirectAlone: direct(1),
    mcpAlone: toolCalling(bench, database, kernel, { connections: 1 }),
  };
  return { members, databases: [database] };
}

async function openBudgets(bench: Bench, closing: Closing): Promise<OpenComparison> {
  const none = await openFresh(bench, closing);
  const database = await bench.seed.copy(closing);
  await closingAfter(async (inner) => {
    const kernel = await openKernel(bench, inner, database);
    await putPattern(bench, kernel);
  });
  await fillBudgets(database.adminUrl, budgetCount);
  const many = await openKernel(bench, closing, database);
  const members = {
    noBudgets: evaluating(bench, none.database, [none.kernel]),
    manyBudgets: evaluating(bench, database, [many]),
  };
  return { members, databases: [none.database, database] };
}

/** Creates the budget that the fill copies. The kernel itself writes its row, so the copies have the right form. */
async function putPattern(bench: Bench, kernel: Running): Promise<void> {
  await clientOf(bench, kernel).putBudget({
    params: { budget_id: filledName }, // matches its schema
    body: {
      subject: `principal:${filledName}`,
      window: '24h',
      tool_call_limit: 1_000,
      spend_limit_minor: null,
      currency: null,
      egress_limit_bytes: null,
      write_limit: null,
      approval_required_above_minor: null,
    },
  });
}

/** One grown ledger serves both ratios of growth, since filling it takes longer than the measurement. */
async function openGrown(bench: Bench, closing: Closing): Promise<OpenComparison> {
  const filled = async (fills: LedgerFill[]) => {
    const database = await bench.seed.copy(closing);
    await fillLedger(database.adminUrl, fills);
    return { database, kernel: await openKernel(bench, closing, database, noCheckpoints) };
  };
  const few = await filled([{ pattern: evaluatedCalls, size: receiptsFew }]);
  const many = await filled([
    { pattern: settledChats, size: settledCount * 2 },
    { pattern: evaluatedCalls, size: receiptsMany },
  ]);
  const members = {
    chatFresh: chatting(bench, few.database, few.kernel),
    chatSettled: chatting(bench, many.database, many.kernel),
    receipts10k: evaluating(bench, few.database, [few.kernel]),
    receipts1m: evaluating(bench, many.database, [many.kernel]),
  };
  return { members, databases: [few.database, many.database] };
}

async function openReplicas(bench: Bench, closing: Closing): Promise<OpenComparison> {
  const one = await openFresh(bench, closing);
  const two = await openFresh(bench, closing);
  const second = await openKernel(bench, closing, two.database);
  const members = {
    oneReplica: evaluating(bench, one.database, [one.kernel]),
    twoReplicas: evaluating(bench, two.database, [two.kernel, second]),
  };
  return { members, databases: [one.database, two.database] };
}

async function openFresh(bench: Bench, closing: Closing) {
  const database = await bench.seed.copy(closing);
  return { database, kernel: await openKernel(bench, closing, database) };
}
