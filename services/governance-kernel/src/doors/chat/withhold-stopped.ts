import type { StoredAnswer } from '@countersign/service-kit';
import type { Boundary } from '../../decision/sealed-decision.ts';
import { proposedCalls, withRelease } from './govern-answer.ts';
import { governedCall, judged, type JudgedCall, type Proposer } from './judge-calls.ts';
import { passiveMessage, type JsonObject } from './passive-members.ts';
import type { ProposedCall } from './proposed-call.ts';
import { ArgumentsRoom, readCalls } from './read-calls.ts';
import { releaseCalls, summaryOf, toolCallsHeader, type DecisionSummary, type Release } from './release-calls.ts';

/** An answer in the form of `governAnswer`. A stored error has no choices. */
type KeptAnswer = { choices?: KeptChoice[] };
type KeptChoice = JsonObject & { message: JsonObject & { countersign?: Release['summary'] } };

/**
 * A stored answer in the form in which it may be repeated. The caller may run a released call of its own function
 * without another decision. A call that was stopped since the first answer is therefore withheld, as in a new answer.
 * The calls are read from the text that would be repeated, since separate notes could differ from it.
 */
export async function withholdStopped(
  boundary: Pick<Boundary, 'refuseStopped'>,
  proposer: Proposer,
  kept: StoredAnswer,
): Promise<StoredAnswer> {
  const answer = JSON.parse(kept.text) as KeptAnswer; // written by a kernel
  const choices = await readChoices(answer.choices ?? []);
  const released = choices.flatMap((choice) => choice.released);
  const stopped = await stoppedOf(boundary, proposer, released);
  if (stopped.size === 0) return kept;
  const messages = choices.map((read) => withoutStopped(read, stopped));
  const toolCalls = toolCallsHeader(messages.flatMap(decisionsOf));
  return {
    ...kept,
    headers: { ...kept.headers, ...(toolCalls === null ? {} : { 'x-gov-tool-calls': toolCalls }) },
    text: JSON.stringify({ ...answer, choices: messages }),
  };
}

async function readChoices(choices: readonly KeptChoice[]): Promise<ReadChoice[]> {
  const room = new ArgumentsRoom();
  const read: ReadChoice[] = [];
  for (const choice of choices) read.push({ choice, released: await readCalls(proposedCalls(choice.message), room) });
  return read;
}

type Stopped = ReadonlyMap<ProposedCall, JudgedCall>;

async function stoppedOf(
  boundary: Pick<Boundary, 'refuseStopped'>,
  proposer: Proposer,
  released: readonly ProposedCall[],
): Promise<Stopped> {
  if (released.length === 0) return new Map();
  const refusals = await boundary.refuseStopped(released.map((call) => governedCall(call, proposer)));
  const refused = refusals.flatMap((refusal, nth) => (refusal === null ? [] : [judged(released[nth], refusal)]));
  return new Map(refused.map((call) => [call.proposed, call]));
}

type ReadChoice = { choice: KeptChoice; released: readonly ProposedCall[] };

function withoutStopped({ choice, released }: ReadChoice, stopped: Stopped): KeptChoice {
  const { withheld } = releaseCalls(released.flatMap((call) => stopped.get(call) ?? []));
  if (withheld === null) return choice;
  const allowed = released.filter((call) => !stopped.has(call)).map((call) => call.released);
  const summary = { decisions: decisionsOfNow(decisionsOf(choice), released, stopped) };
  const message = passiveMessage(choice.message);
  return { ...choice, ...withRelease({ message }, { allowed, withheld, summary }) };
}

/**
 * The decisions, with a refusal in place of each stopped call. The released calls are those with an ALLOW, in the same
 * order.
 */
function decisionsOfNow(
  summaries: readonly DecisionSummary[],
  released: readonly ProposedCall[],
  stopped: Stopped,
): DecisionSummary[] {
  const calls = released.values();
  return summaries.map((decision) => {
    if (decision.verdict !== 'ALLOW') return decision;
    const { value: call } = calls.next();
    const refused = call === undefined ? undefined : stopped.get(call);
    return refused === undefined ? decision : summaryOf(refused);
  });
}

function decisionsOf({ message }: KeptChoice): readonly DecisionSummary[] {
  return message.countersign?.decisions ?? [];
}
