import { AppError, type ApprovalId } from '@countersign/contracts';
import type { ServerResponse } from 'node:http';
import { createChatCompletion } from '@countersign/contracts/governance-kernel';
import type { IdempotencyClaim, StoredAnswer } from '@countersign/service-kit';
import { neverAborted, type KeptAnswers } from '../boundary/kept-answers.ts';
import type { Boundary } from '../boundary/sealed-decision.ts';
import { answerHeaders } from './answer-headers.ts';
import { completeChat, type ChatExchange, type ChatParts } from './complete-chat.ts';
import { withholdStopped } from './withhold-stopped.ts';

export type KeyedChatParts = ChatParts & {
  boundary: Pick<Boundary, 'refuseStopped'>;
  keptAnswers: Pick<KeptAnswers, 'find' | 'keep' | 'free'>;
  /** How long a call of the model can be on its way in a process that lives. */
  dispatchMsMax: number;
};

type Once = { exchange: Omit<ChatExchange, 'idempotency' | 'signal'>; claim: IdempotencyClaim; res: ServerResponse };

/**
 * One key, one decision, one call of the model. The call goes on without its caller, and whoever comes back with the key gets its
 * answer, without the calls in it that were stopped since. A key is free again only when the model was not asked, or refused. Throws
 * OUTCOME_UNCERTAIN when nobody knows the answer.
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
    const kept = await kernel.keptAnswers.find(keyed, decision);
    if (kept === null) throw uncertain(answerHeaders(decision));
    const told = await withholdStopped(kernel.boundary, exchange, kept);
    return { ...told, headers: { ...told.headers, 'idempotency-replayed': 'true' } };
  }
  if (performed.result === null) throw new Error('A whole answer was asked for');
  const { isFree, ...answer } = performed.result;
  if (isFree) await kernel.keptAnswers.free(keyed, decision, log);
  else await kernel.keptAnswers.keep(keyed, answer, log);
  return answer;
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
