import type { ServerResponse } from 'node:http';
import { AppError, type ApprovalId, type ErrorEnvelope } from '@countersign/contracts';
import { createChatCompletion } from '@countersign/contracts/governance-kernel';
import { errorAnswer, type IdempotencyClaim, type StoredAnswer } from '@countersign/service-kit';
import { neverAborted, type KeptAnswers, type KeyedCall } from '../../decision/kept-answers.ts';
import type { Boundary, SealedDecision } from '../../decision/sealed-decision.ts';
import { answerHeaders } from './answer-headers.ts';
import { completeChat, type ChatExchange, type ChatDeps } from './complete-chat.ts';
import { governAnswer, readAnswer } from './govern-answer.ts';
import { judgeWith } from './judge-calls.ts';
import { modelFacts } from './model-facts.ts';
import { toldAnswer } from './receive-answer.ts';
import { withholdStopped } from './withhold-stopped.ts';

export type KeyedChatDeps = ChatDeps & {
  boundary: Pick<Boundary, 'forOneAnswer' | 'refuseStopped'>;
  keptAnswers: Pick<KeptAnswers, 'find' | 'findUnjudged' | 'free' | 'judgeOnce' | 'keep' | 'keepUnjudged'>;
  /** The longest time that a model call can be in progress in a live process. */
  dispatchMsMax: number;
};

type Once = { exchange: Omit<ChatExchange, 'idempotency' | 'signal'>; claim: IdempotencyClaim; res: ServerResponse };

/**
 * Decides a key once and calls the model at most once. The call continues without its caller. A repeated request with
 * the key gets the answer, without calls that were stopped since. If the calls of the answer could not be judged
 * before, they are judged at the repetition. A key becomes free only when the model was not called, or when it refused.
 * Throws OUTCOME_UNCERTAIN when the answer is unknown.
 */
export async function completeOnce(kernel: KeyedChatDeps, { exchange, claim, res }: Once): Promise<StoredAnswer> {
  const { caller, log } = exchange;
  const route = createChatCompletion.operation;
  const input = claimWithGrant(claim, exchange.approvalGrant);
  const keyed = { caller, route, claim: input, runningMsMax: kernel.dispatchMsMax };
  const underKey = { ...exchange, idempotency: { ...input, route }, signal: neverAborted };
  const performed = await completeChat(kernel, underKey, res);
  const { decision } = performed;
  if (performed.kind === 'replayed') {
    const result = await answerFromBefore(kernel, { exchange, keyed, decision });
    if (result === null) throw uncertain(answerHeaders(decision));
    return { ...result, headers: { ...result.headers, 'idempotency-replayed': 'true' } };
  }
  if (performed.result === null) throw new Error('A request with a key was answered as a stream');
  const { kept, ...answer } = performed.result;
  const { keptAnswers } = kernel;
  if (kept === 'answer') await keptAnswers.keep(keyed, answer, log);
  else if (kept === 'nothing') await keptAnswers.free(keyed, decision, log);
  else if (kept === 'uncertain') await keptAnswers.keep(keyed, uncertainAnswer(exchange, decision), log);
  else if (kept === 'unusable') await keptAnswers.keep(keyed, asFinal(answer), log);
  else await keptAnswers.keepUnjudged(keyed, { ...kept, status: 200 }, log);
  return answer;
}

type Earlier = { exchange: Once['exchange']; keyed: KeyedCall; decision: SealedDecision };

async function answerFromBefore(kernel: KeyedChatDeps, earlier: Earlier): Promise<StoredAnswer | null> {
  const { exchange, keyed, decision } = earlier;
  const bought = await kernel.keptAnswers.findUnjudged(keyed);
  if (bought !== null) return await kernel.keptAnswers.judgeOnce(keyed, () => judgeBought(kernel, earlier, bought));
  const kept = await kernel.keptAnswers.find(keyed, decision);
  return kept === null ? null : await withholdStopped(kernel.boundary, exchange, kept);
}

/**
 * Judges the calls of a stored answer. Their receipts follow the outcome of the model call, which is already sealed.
 * Throws while the ledger is unavailable.
 */
async function judgeBought(
  kernel: KeyedChatDeps,
  { exchange, keyed }: Earlier,
  { text, headers }: StoredAnswer,
): Promise<StoredAnswer> {
  const { request, body, log } = exchange;
  const read = await readAnswer(Buffer.from(text), modelFacts(request, body).n);
  const judge = judgeWith({ ...kernel, ...exchange, deadline: neverAborted });
  const answer = toldAnswer(await governAnswer(read, judge), headers);
  await kernel.keptAnswers.keep(keyed, answer, log);
  return answer;
}

/** The stored error is not retryable, since a retry under this key gets this error again. */
function asFinal(answer: StoredAnswer): StoredAnswer {
  const { error } = JSON.parse(answer.text) as ErrorEnvelope; // written by `errorAnswer`
  return { ...answer, text: JSON.stringify({ error: { ...error, retryable: false } }) };
}

function uncertainAnswer({ requestId }: Once['exchange'], decision: SealedDecision): StoredAnswer {
  const { status, headers, envelope } = errorAnswer(uncertain(answerHeaders(decision)), requestId, []);
  return { status, headers, text: JSON.stringify(envelope) };
}

/**
 * A request with a different approval counts as a different request, as one with a different body does. It does not get
 * the earlier answer.
 */
function claimWithGrant(claim: IdempotencyClaim, grant: ApprovalId | null): IdempotencyClaim {
  return grant === null ? claim : { ...claim, fingerprint: `${claim.fingerprint} ${grant}` };
}

function uncertain(headers: Record<string, string>): AppError {
  const message =
    'The call under this Idempotency-Key was allowed earlier; its outcome is uncertain and it is not sent again';
  return new AppError('OUTCOME_UNCERTAIN', message, { headers: { ...headers, 'idempotency-replayed': 'true' } });
}
