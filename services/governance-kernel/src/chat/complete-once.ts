import type { ServerResponse } from 'node:http';
import { AppError, type ApprovalId, type ErrorEnvelope } from '@countersign/contracts';
import { createChatCompletion } from '@countersign/contracts/governance-kernel';
import { errorAnswer, type IdempotencyClaim, type StoredAnswer } from '@countersign/service-kit';
import { neverAborted, type KeptAnswers, type KeyedCall } from '../boundary/kept-answers.ts';
import type { Boundary, SealedDecision } from '../boundary/sealed-decision.ts';
import { answerHeaders } from './answer-headers.ts';
import { completeChat, type ChatExchange, type ChatParts } from './complete-chat.ts';
import { governAnswer, readAnswer } from './govern-answer.ts';
import { judgeWith } from './judge-calls.ts';
import { modelFacts } from './model-facts.ts';
import { toldAnswer } from './receive-answer.ts';
import { withholdStopped } from './withhold-stopped.ts';

export type KeyedChatParts = ChatParts & {
  boundary: Pick<Boundary, 'forOneAnswer' | 'refuseStopped'>;
  keptAnswers: Pick<KeptAnswers, 'find' | 'findUnjudged' | 'free' | 'judgeOnce' | 'keep' | 'keepUnjudged'>;
  /** How long a call of the model can be on its way in a process that lives. */
  dispatchMsMax: number;
};

type Once = { exchange: Omit<ChatExchange, 'idempotency' | 'signal'>; claim: IdempotencyClaim; res: ServerResponse };

/**
 * One key, one decision, one call of the model. The call goes on without its caller. A repeated request with the key
 * gets its answer, without the calls in it that were stopped since. An answer whose calls could not be judged is judged
 * then. A key is free again only when the model was not asked, or refused. Throws OUTCOME_UNCERTAIN when the answer is
 * unknown.
 */
export async function completeOnce(kernel: KeyedChatParts, { exchange, claim, res }: Once): Promise<StoredAnswer> {
  const { caller, log } = exchange;
  const route = createChatCompletion.operation;
  const asked = claimWithGrant(claim, exchange.approvalGrant);
  const keyed = { caller, route, claim: asked, runningMsMax: kernel.dispatchMsMax };
  const underKey = { ...exchange, idempotency: { ...asked, route }, signal: neverAborted };
  const performed = await completeChat(kernel, underKey, res);
  const { decision } = performed;
  if (performed.kind === 'replayed') {
    const told = await answerFromBefore(kernel, { exchange, keyed, decision });
    if (told === null) throw uncertain(answerHeaders(decision));
    return { ...told, headers: { ...told.headers, 'idempotency-replayed': 'true' } };
  }
  if (performed.result === null) throw new Error('A whole answer was asked for');
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

async function answerFromBefore(kernel: KeyedChatParts, earlier: Earlier): Promise<StoredAnswer | null> {
  const { exchange, keyed, decision } = earlier;
  const bought = await kernel.keptAnswers.findUnjudged(keyed);
  if (bought !== null) return await kernel.keptAnswers.judgeOnce(keyed, () => judgeBought(kernel, earlier, bought));
  const kept = await kernel.keptAnswers.find(keyed, decision);
  return kept === null ? null : await withholdStopped(kernel.boundary, exchange, kept);
}

/** The outcome of the call was sealed when it ended; the receipts of these decisions stand behind it. Throws while the ledger is away. */
async function judgeBought(
  kernel: KeyedChatParts,
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

/** An error that says "try again" is true once: a retry under this key does not help. */
function asFinal(answer: StoredAnswer): StoredAnswer {
  const { error } = JSON.parse(answer.text) as ErrorEnvelope; // written by `errorAnswer`
  return { ...answer, text: JSON.stringify({ error: { ...error, retryable: false } }) };
}

function uncertainAnswer({ requestId }: Once['exchange'], decision: SealedDecision): StoredAnswer {
  const { status, headers, envelope } = errorAnswer(uncertain(answerHeaders(decision)), requestId, []);
  return { status, headers, text: JSON.stringify(envelope) };
}

/** An approval makes a new question of a call, as it does where it comes in the body: the answer from before it is not the one to tell. */
function claimWithGrant(claim: IdempotencyClaim, grant: ApprovalId | null): IdempotencyClaim {
  return grant === null ? claim : { ...claim, fingerprint: `${claim.fingerprint} ${grant}` };
}

function uncertain(headers: Record<string, string>): AppError {
  const message =
    'The call under this Idempotency-Key was allowed earlier; its outcome is uncertain and it is not sent again';
  return new AppError('OUTCOME_UNCERTAIN', message, { headers: { ...headers, 'idempotency-replayed': 'true' } });
}
