import type { Outcome } from '@countersign/contracts/governance-kernel';
import type { Books, Step } from './_books.ts';
import type { StartedRun } from './_workload.ts';

const ends = {
  completed: 'completed',
  denied: 'failed',
  failed: 'failed',
  awaiting_approval: 'awaiting_approval',
} as const;
type End = keyof typeof ends;

/** The expected end of a run, unless a kill of the kernel lost the answer to its last model call. */
function endOf({ plot, person }: StartedRun): End {
  switch (plot) {
    case 'writes':
    case 'asks':
      return 'completed';
    case 'asks in vain':
      return 'denied';
    case 'asks nobody':
      return 'awaiting_approval';
    case 'is denied':
      return person.isToldOfDenials ? 'completed' : 'denied';
    default:
      return plot satisfies never;
  }
}

/** The faults in the records of the runs. */
export function findUntrueRuns({ runs, steps }: Books, started: readonly StartedRun[]): string[] {
  const found: string[] = [];
  for (const start of started) {
    const run = runs.find(({ id }) => id === start.runId);
    const say = (what: string) => found.push(`run ${start.nth} (${start.plot}): ${what}`);
    if (run === undefined) {
      say('is nowhere');
      continue;
    }
    const own = steps.filter(({ run_id }) => run_id === run.id);
    const last = own.at(-1);
    const lostAnswer = last?.kind === 'model_call' && last.error_code === 'OUTCOME_UNCERTAIN';
    const wanted = lostAnswer ? 'failed' : endOf(start);
    if (run.status !== wanted) say(`is ${run.status} ${run.error_code ?? ''}, not ${wanted}`);
    if (run.task_status !== ends[wanted]) say(`is ${run.status}, and its task ${run.task_status}`);
    if (lostAnswer && run.error_code !== 'OUTCOME_UNCERTAIN') say(`does not say what happened: ${run.error_code}`);
    const ended = run.status === 'awaiting_approval' ? 0 : 1;
    if (run.endings !== ended) say(`ended ${run.endings} times in the audit log`);
    const calls = own.filter(({ kind, state }) => kind === 'model_call' && state === 'settled').length;
    if (run.iterations_used !== calls) say(`counts ${run.iterations_used} calls of the model, and made ${calls}`);
  }
  return found;
}

/** The mismatches between steps, decisions and outcomes, which must be one to one. */
export function findUnmatchedDecisions({ steps, decisions, keys }: Books): string[] {
  const found: string[] = [];
  const decisionOf = new Map(decisions.map((decision) => [decision.id, decision]));
  const allowedFor = new Map<string, string[]>();
  for (const { key, decision_id } of keys) {
    const [stepId = ''] = key.split('.');
    const decision = decisionOf.get(decision_id);
    if (decision === undefined) found.push(`${key}: its decision is in no chain of a run`);
    else if (decision.verdict === 'ALLOW') allowedFor.set(stepId, [...(allowedFor.get(stepId) ?? []), decision_id]);
    if (!steps.some(({ id }) => id === stepId)) found.push(`${key}: no such step`);
  }
  const dispatched = new Set([...allowedFor.values()].flat());
  for (const { id, verdict, outcomes } of decisions) {
    const due = dispatched.has(id) ? 1 : 0;
    if (outcomes.length !== due) found.push(`${id} ${verdict}: ${outcomes.length} outcomes, and ${due} due`);
  }
  for (const step of steps) {
    const allowed = allowedFor.get(step.id) ?? [];
    if (allowed.length > 1) found.push(`${step.id}: allowed ${allowed.length} times`);
    found.push(...findUnnamedDecision(step, allowed[0] ?? null));
  }
  const named = steps.flatMap(({ decision_id }) => decision_id ?? []);
  if (new Set(named).size !== named.length) found.push('a decision is that of two steps');
  return found;
}

function findUnnamedDecision(step: Step, allowed: string | null): string[] {
  const { id, verdict, decision_id: named, receipts, error_code: error } = step;
  if (named === null)
    return error === 'OUTCOME_UNCERTAIN' && allowed !== null ? [] : [`${id}: names no decision (${error})`];
  const stored = receipts.filter((decisionId) => decisionId === named).length;
  return [
    ...(stored === 1 ? [] : [`${id}: its receipt is stored ${stored} times`]),
    ...(verdict === 'ALLOW' && allowed !== named ? [`${id}: names ${named}, and was allowed by ${allowed}`] : []),
  ];
}

type Effects = { notes: readonly { args: Record<string, unknown> }[]; questions: readonly string[] };

/**
 * How often a call may have had its effect, by its outcome in the ledger. If an answer was lost with the kernel, only
 * the ledger has the outcome.
 */
const timesBy: Record<Outcome, readonly number[]> = { completed: [1], failed: [0], uncertain: [0, 1] };

type Report = { says: RegExp; of: readonly Outcome[]; made: readonly number[] };

/**
 * The texts that the model may receive about a call, with the outcomes that each text allows. A result may reach the
 * model although the kernel ended before it sealed the result. The ledger then has the outcome `uncertain`.
 */
const tellings: readonly Report[] = [
  { says: /^Wrote /, of: ['completed', 'uncertain'], made: [1] },
  { says: /its outcome is uncertain|the tool may have run/, of: ['completed', 'uncertain'], made: [0, 1] },
  { says: /^The tool was not executed/, of: ['failed'], made: [0] },
];

/**
 * Effects without an allowed step, effects that happened too often or too rarely, and allowed steps without their
 * effect.
 */
export function findUnmatchedEffects({ steps, runs, keys, decisions }: Books, { notes, questions }: Effects): string[] {
  const found: string[] = [];
  const times = countBy([...notes.map(({ args }) => String(args['id'])), ...questions]);
  const titleOf = new Map(runs.map(({ id, title }) => [id, title]));
  for (const step of steps) {
    const effect = step.kind === 'tool_call' ? noteOf(step.args) : questionOf(step.args, titleOf.get(step.run_id));
    const made = times.get(effect) ?? 0;
    times.delete(effect);
    const decided = keys.filter(({ key }) => key.split('.')[0] === step.id).map(({ decision_id }) => decision_id);
    const allowed = decisions.find(({ id, verdict }) => decided.includes(id) && verdict === 'ALLOW');
    const [outcome = null] = allowed?.outcomes ?? [];
    const due = outcome === null ? [0] : timesBy[outcome];
    if (!due.includes(made)) found.push(`${effect}: made ${made} times, and its call is ${outcome}`);
    if (outcome !== null && step.kind === 'tool_call' && !isSo(toldOf(step), outcome, made))
      found.push(`${effect}: ${outcome}, made ${made} times, and told as ${toldOf(step)}`);
    const request = effect.startsWith('ask-') ? 1 : 0;
    if (step.approvals !== request) found.push(`${effect}: ${step.approvals} approvals, and ${request} due`);
  }
  return [...found, ...[...times.keys()].map((effect) => `${effect}: made, and no step says so`)];
}

function isSo(message: string, outcome: Outcome, made: number): boolean {
  return tellings.some(
    (telling) => telling.says.test(message) && telling.of.includes(outcome) && telling.made.includes(made),
  );
}

function toldOf({ output }: Step): string {
  return output === null ? 'nothing' : (JSON.parse(output) as { content: string }).content; // the gateway wrote it
}

function noteOf(args: string): string {
  return String((JSON.parse(args) as { id: string }).id); // the workload's own arguments
}

/** The model request of one turn of one run, identified by the length of the conversation. */
export function questionOf(request: string, title: string | undefined): string {
  const { messages } = JSON.parse(request) as { messages: unknown[] }; // a chat completion
  return `${title} after ${messages.length} messages`;
}

function countBy(names: readonly string[]): Map<string, number> {
  const times = new Map<string, number>();
  for (const name of names) times.set(name, (times.get(name) ?? 0) + 1);
  return times;
}
