import { setTimeout as delay } from 'node:timers/promises';
import { AppError, isAppError, type SessionId } from '@countersign/contracts';
import { callsPerAnswerMax } from '@countersign/contracts/governance-kernel';
import type { Caller, GovernedCall } from '../../call/governed-call.ts';
import type { Boundary, SealedDecision } from '../../decision/sealed-decision.ts';
import type { ProposedCall } from './proposed-call.ts';

export type JudgedCall = { proposed: ProposedCall; tool: string; decision: SealedDecision };

/**
 * Decides the calls of one answer. They are submitted in order and at once, so one batch seals them in that order.
 * Throws UPSTREAM_FAILED for too many calls, and the error of the boundary after all of them are answered. In these
 * cases no call may be shown.
 */
export type JudgeCalls = (proposed: readonly ProposedCall[]) => Promise<JudgedCall[]>;

type JudgeDeps = {
  boundary: Pick<Boundary, 'forOneAnswer'>;
  caller: Caller;
  session: SessionId;
  /** The deadline of the answer. */
  deadline: AbortSignal;
  ledgerAwayMsMax: number;
};

/**
 * How long the judgement waits for an unavailable ledger. The answer is already paid for, so an outage of seconds must
 * not lose it. This time is shorter than the limit for sealing a dispatch.
 */
export const ledgerAwayMsMax = 15_000;
const retryPauseMs = 250;
const awayCodes: ReadonlySet<string> = new Set(['RECEIPT_STORE_UNAVAILABLE', 'STORE_UNAVAILABLE']);

/** The judge of one answer. A proposed call is executed by the owner of the tool. */
export function judgeWith({ boundary, caller, session, ...patience }: JudgeDeps): JudgeCalls {
  const decide = boundary.forOneAnswer();
  let calls = 0;
  return async (proposed) => {
    calls += proposed.length;
    if (calls > callsPerAnswerMax)
      throw new AppError(
        'UPSTREAM_FAILED',
        `The answer of the model has more than ${callsPerAnswerMax} calls. No answer may have more`,
      );
    const named = proposed.map((call) => governedCall(call, { caller, session }));
    const decisions = await whileLedgerIsAway(() => decide(named), patience);
    return decisions.map((decision, nth) => judged(proposed[nth], decision));
  };
}

export type Proposer = Pick<GovernedCall, 'caller' | 'session'>;

export function governedCall(
  { name, args, argumentsFault }: ProposedCall,
  { caller, session }: Proposer,
): GovernedCall {
  return {
    kind: 'tool',
    ...{ caller, session, tool: name, resource: null, args: args ?? {}, context: {} },
    malformedArguments: args === null && (argumentsFault ?? true),
    mode: 'enforce',
    dispatchedBy: 'owner',
  };
}

async function whileLedgerIsAway<Decided>(
  decide: () => Promise<Decided>,
  { deadline, ledgerAwayMsMax }: Pick<JudgeDeps, 'deadline' | 'ledgerAwayMsMax'>,
): Promise<Decided> {
  const giveUpAtMs = performance.now() + ledgerAwayMsMax;
  for (;;) {
    try {
      return await decide();
    } catch (error) {
      if (!isLedgerAway(error) || deadline.aborted || performance.now() > giveUpAtMs) throw error;
      await delay(retryPauseMs);
    }
  }
}

/** Whether nothing was decided because the database did not answer. A later attempt may succeed. */
export function isLedgerAway(error: unknown): boolean {
  return isAppError(error) && awayCodes.has(error.code);
}

/** The call under the name that the receipt contains. */
export function judged(proposed: ProposedCall | undefined, decision: SealedDecision): JudgedCall {
  if (proposed === undefined) throw new Error('There is a decision on a call that was not proposed');
  return { proposed, decision, tool: decision.reply.receipt.payload.tool ?? proposed.name };
}

/**
 * Whether the call may be shown. The reply and its receipt must both allow it. A malformed call is never shown,
 * whatever its decision.
 */
export function isAllowed({ proposed, decision }: JudgedCall): boolean {
  return (
    proposed.args !== null && decision.reply.verdict === 'ALLOW' && decision.reply.receipt.payload.verdict === 'ALLOW'
  );
}
