import { setTimeout as delay } from 'node:timers/promises';
import { AppError, isAppError, type SessionId } from '@countersign/contracts';
import { callsPerAnswerMax } from '@countersign/contracts/governance-kernel';
import type { Caller, GovernedCall } from '../call/governed-call.ts';
import type { Boundary, SealedDecision } from '../boundary/sealed-decision.ts';
import type { ProposedCall } from './proposed-call.ts';

export type JudgedCall = { proposed: ProposedCall; tool: string; decision: SealedDecision };

/**
 * Decides the calls of one answer. They are handed over in their order and at once, so one batch seals them, in that order. Throws what
 * the boundary throws, when all of them are answered; then none may be shown.
 */
export type JudgeCalls = (proposed: readonly ProposedCall[]) => Promise<JudgedCall[]>;

type JudgeParts = {
  boundary: Pick<Boundary, 'forOneAnswer'>;
  caller: Caller;
  session: SessionId;
  /** The deadline of the answer. */
  deadline: AbortSignal;
  ledgerAwayMsMax: number;
};

/** The answer is bought: a ledger that is away for some seconds does not lose it. Less than what sealing may take of a dispatch. */
export const ledgerAwayMsMax = 15_000;
const retryPauseMs = 250;
const awayCodes: ReadonlySet<string> = new Set(['RECEIPT_STORE_UNAVAILABLE', 'STORE_UNAVAILABLE']);

/** The judge of one answer. A proposed call is executed by the owner of the tool. */
export function judgeWith({ boundary, caller, session, ...patience }: JudgeParts): JudgeCalls {
  const decide = boundary.forOneAnswer();
  let calls = 0;
  return async (proposed) => {
    calls += proposed.length;
    if (calls > callsPerAnswerMax)
      throw new AppError('UPSTREAM_FAILED', `The model asked for more than ${callsPerAnswerMax} calls at once`);
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
  { deadline, ledgerAwayMsMax }: Pick<JudgeParts, 'deadline' | 'ledgerAwayMsMax'>,
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

/** Nothing was decided, and may be as soon as the database answers. */
export function isLedgerAway(error: unknown): boolean {
  return isAppError(error) && awayCodes.has(error.code);
}

/** Under the name that the receipt gives to the tool. */
export function judged(proposed: ProposedCall | undefined, decision: SealedDecision): JudgedCall {
  if (proposed === undefined) throw new Error('There is a decision on a call that was not proposed');
  return { proposed, decision, tool: decision.reply.receipt.payload.tool ?? proposed.name };
}

/** The receipt decides, and a malformed call is never shown, whatever was said about it. */
export function isAllowed({ proposed, decision }: JudgedCall): boolean {
  return (
    proposed.args !== null && decision.reply.verdict === 'ALLOW' && decision.reply.receipt.payload.verdict === 'ALLOW'
  );
}
