import { setTimeout as delay } from 'node:timers/promises';
import type { InputRequiredResult, ServerContext } from '@modelcontextprotocol/server';
import { performRound, type Act, type ActDeps, type Acted } from './governed-act.ts';
import type { SessionClient } from './session-client.ts';

/** The most rounds of questions in one call, since each is decided and asks a person. */
const roundsMax = 8;
/** The pause before a round without a question, so that a server cannot make the kernel loop without end. */
const pauseMs = 250;

type Answers = { kind: 'answered'; responses: Record<string, unknown> } | { kind: 'failed'; problem: string };

/**
 * Performs one act of a message. A client of 2026-07-28 starts each round itself. For the client of a session, the
 * kernel asks the questions and continues with the answers. Both kinds of rounds are decided and sealed alike.
 */
export async function performAct(deps: ActDeps, act: Act, context: ServerContext): Promise<Acted> {
  const { mcpReq } = context;
  const { client } = deps;
  if (client === null) {
    const reply = { requestState: mcpReq.requestState<string>(), inputResponses: mcpReq.inputResponses };
    return await performRound(deps, act, { context, reply });
  }
  let acted = await performRound(deps, act, { context, reply: {} });
  for (let rounds = 1; acted.asks !== null; rounds += 1) {
    if (rounds > roundsMax) return stopped(acted, `The server asked more than ${roundsMax} times.`);
    const answers = await askAll(client, acted.asks, context);
    if (answers.kind === 'failed') return stopped(acted, answers.problem);
    const next = await nextRound(deps, act, { context, acted, responses: answers.responses });
    if (next === null) return { ...acted, asks: null };
    acted = next;
  }
  return acted;
}

type Next = { context: ServerContext; acted: Acted; responses: Record<string, unknown> };

/**
 * After the question to open an approval, the call waits for the approval and is decided again with it. `null` when the
 * approval is not granted.
 */
async function nextRound(deps: ActDeps, act: Act, { context, acted, responses }: Next): Promise<Acted | null> {
  const { reply } = acted.execution.decision;
  const requestState = acted.asks?.requestState;
  if (reply.verdict !== 'ESCALATE' || reply.approval === undefined)
    return await performRound(deps, act, { context, reply: { requestState, inputResponses: responses } });
  if (!isAccepted(responses['approval'])) return null;
  const approval = { tenant: deps.sender.caller.tenant, id: reply.approval.approval_id };
  if (!(await deps.approvalWaits.isGranted(approval, context.mcpReq.signal))) return null;
  const sender = { ...deps.sender, approvalGrant: approval.id };
  return await performRound({ ...deps, sender }, act, {
    context: withoutGrant(context),
    reply: { inputResponses: responses },
  });
}

function isAccepted(response: unknown): boolean {
  return typeof response === 'object' && response !== null && 'action' in response && response.action === 'accept';
}

/** The message may name an earlier approval, which was not sufficient. */
function withoutGrant(context: ServerContext): ServerContext {
  const { 'countersign/approval_grant': _grant, ...meta } = context.mcpReq._meta ?? {};
  return { ...context, mcpReq: { ...context.mcpReq, _meta: meta } };
}

/** Asks all questions of a round at once. When one of them fails, the others end too. */
async function askAll(client: SessionClient, asks: InputRequiredResult, { mcpReq }: ServerContext): Promise<Answers> {
  const questions = Object.entries(asks.inputRequests ?? {});
  if (questions.length === 0) await delay(pauseMs, undefined, { signal: mcpReq.signal });
  const others = new AbortController();
  const about = { request: mcpReq.id, signal: AbortSignal.any([mcpReq.signal, others.signal]) };
  const responses: Record<string, unknown> = {};
  const problems: string[] = [];
  const ask = async ([key, question]: (typeof questions)[number]) => {
    const outcome = await client.ask(question, about);
    if (outcome.kind === 'answered') responses[key] = outcome.answer;
    else {
      problems.push(outcome.problem);
      others.abort();
    }
  };
  const settled = await Promise.allSettled(questions.map(ask));
  const [problem] = problems;
  if (problem !== undefined) return { kind: 'failed', problem };
  for (const one of settled) if (one.status === 'rejected') throw one.reason;
  return { kind: 'answered', responses };
}

/** The result of a call whose question got no answer. Its last round is settled, and the server got nothing more. */
function stopped({ execution }: Acted, problem: string): Acted {
  if (execution.kind !== 'performed') return { execution, asks: null };
  const text = `The server asked for input before it goes on. ${problem} The call was not continued.`;
  return { execution: { ...execution, result: { content: [{ type: 'text', text }], isError: true } }, asks: null };
}
