import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CallToolResult } from '@modelcontextprotocol/client';
import { operatorClient, type Agent } from './agent.ts';
import type { StartedSystem } from '../started-system.ts';
import { DemoFailure, expectStep, type Step } from './step.ts';

type Stage = { system: StartedSystem; agent: Agent; show(step: Step): void };

/** All steps that need the running system, in their order. */
export async function playSteps(stage: Stage): Promise<void> {
  await readThroughChat(stage);
  await denyDestructive(stage);
  await escalateApproveRepeat(stage);
  await exhaustBudget(stage);
}

/**
 * The model requests a tool in its answer. The boundary decides the model call and the tool call, and then the tool
 * runs.
 */
async function readThroughChat({ system, agent, show }: Stage): Promise<void> {
  const args = { path: join(system.filesDir, 'notes.md') };
  const completion = await agent.openai.chat.completions.create({
    model: 'demo-model',
    messages: [{ role: 'user', content: `Summarise my notes.\ncall:files__read_text_file ${JSON.stringify(args)}` }],
    tools: [{ type: 'function', function: { name: 'files__read_text_file', parameters: { type: 'object' } } }],
  });
  const released = completion.choices[0]?.message.tool_calls?.length ?? 0;
  const result = await agent.callTool('files.read_text_file', args);
  const step = stepOf(result, {
    title: 'The agent reads a file: OpenAI SDK for the model call, MCP for the tool call',
    request: 'files.read_text_file notes.md',
    explanation:
      'Reading inside the granted folder is allowed. The decision is sealed before the call, and its outcome after it.',
    details: [
      ['chat', `${completion.model} asked for ${released} tool call; the boundary let it through`],
      ['read', firstText(result)],
      ['outcome', String(result._meta?.['countersign/outcome_receipt_id'])],
    ],
  });
  if (released !== 1) throw new DemoFailure(step.title, '1 released tool call', String(released));
  show(expectStep(step, 'ALLOW', 'ALLOWED'));
}

async function denyDestructive({ system, agent, show }: Stage): Promise<void> {
  const record = join(system.filesDir, 'records', '2026.csv');
  const before = readFileSync(record, 'utf8');
  const result = await agent.callTool('files.write_file', { path: record, content: '' });
  const step = stepOf(result, {
    title: 'The agent tries to wipe a record',
    request: 'files.write_file records/2026.csv ""',
    explanation: 'The policy denies the call. A denial has the same proof as a permission, and the file is unchanged.',
  });
  if (readFileSync(record, 'utf8') !== before) throw new DemoFailure(step.title, 'an unchanged file', 'a changed file');
  show(expectStep(step, 'DENY', 'POLICY_DENIED'));
}

async function escalateApproveRepeat({ system, agent, show }: Stage): Promise<void> {
  const letter = join(system.filesDir, 'letter.md');
  const args = { path: letter, content: 'Dear customer, thank you for waiting.\n' };
  const requested = 'files.write_file letter.md "Dear customer, …"';
  const first = await agent.callTool('files.write_file', args);
  const approvalId = String(first._meta?.['countersign/approval_id']);
  const waiting = stepOf(first, {
    title: 'The agent overwrites a letter',
    request: requested,
    explanation: 'Overwriting is hard to undo, so a person must approve this one call. Nothing was written.',
    details: [['approval', approvalId]],
  });
  show(expectStep(waiting, 'ESCALATE', 'APPROVAL_REQUIRED'));
  show(await approve(system, approvalId));
  const repeated = stepOf(await agent.callTool('files.write_file', args, approvalId), {
    title: 'The agent repeats exactly the same call',
    request: requested,
    explanation: 'The approval is for this call and this policy, and the transaction that allows the call consumes it.',
    details: [['written', JSON.stringify(readFileSync(letter, 'utf8').trimEnd())]],
  });
  show(expectStep(repeated, 'ALLOW', 'ALLOWED'));
  const again = stepOf(await agent.callTool('files.write_file', args, approvalId), {
    title: 'The agent uses the approval a second time',
    request: requested,
    explanation: 'An approval is valid for one call.',
  });
  show(expectStep(again, 'DENY', 'APPROVAL_CONSUMED'));
}

async function approve(system: StartedSystem, approvalId: string): Promise<Step> {
  const operator = operatorClient(system, 'alice');
  const { body } = await operator.listApprovals({ query: { state: 'pending' } });
  const pending = body.data.find((approval) => approval.approval_id === approvalId);
  if (pending === undefined) throw new DemoFailure('approval', 'a pending approval', 'none');
  const { approval_id, ceremony_hash } = pending;
  const approved = await operator.transitionApproval({
    params: { approval_id, action: 'approve' },
    body: { reason: 'The letter is fine.', expected_ceremony_hash: ceremony_hash },
    headers: { 'if-match': `"${ceremony_hash}"` },
  });
  const { body: receipts } = await operator.listReceipts({ query: { kind: 'approval', limit: 1 } });
  const step = {
    title: 'A person approves that call',
    request: `approve ${approvalId} as alice`,
    verdict: approved.body.state.toUpperCase(),
    reasonCode: `by ${approved.body.approved_by.join(', ')}`,
    receiptId: receipts.data[0]?.payload.receipt_id ?? null,
    explanation: 'The approval is bound to the hashes of the call and the policy. The requester cannot approve.',
  };
  return expectStep(step, 'APPROVED', 'by alice');
}

const budgetedCalls = 2;

async function exhaustBudget({ system, agent, show }: Stage): Promise<void> {
  await operatorClient(system, 'alice').putBudget({
    params: { budget_id: 'demo-listing' },
    body: { subject: 'tool:files.list_directory', window: 'total', tool_call_limit: budgetedCalls } as never, // the rest has defaults
  });
  for (let call = 1; call <= budgetedCalls; call += 1)
    await agent.callTool('files.list_directory', { path: system.filesDir });
  const result = await agent.callTool('files.list_directory', { path: system.filesDir });
  const step = stepOf(result, {
    title: `The agent lists a folder once more than its budget of ${budgetedCalls} calls allows`,
    request: `files.list_directory, call ${budgetedCalls + 1} with a budget of ${budgetedCalls}`,
    explanation: 'Budgets are reserved in the deciding transaction, so parallel calls cannot overdraw them.',
  });
  show(expectStep(step, 'DENY', 'BUDGET_EXCEEDED'));
}

type Telling = Pick<Step, 'title' | 'request' | 'explanation' | 'details'>;

function stepOf({ _meta }: CallToolResult, telling: Telling): Step {
  return {
    ...telling,
    verdict: String(_meta?.['countersign/verdict']),
    reasonCode: String(_meta?.['countersign/reason_code']),
    receiptId: String(_meta?.['countersign/receipt_id']),
  };
}

function firstText({ content }: CallToolResult): string {
  const [first] = content;
  return JSON.stringify(first?.type === 'text' ? first.text.split('\n')[0] : null);
}
