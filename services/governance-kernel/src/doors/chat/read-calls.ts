import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '@countersign/contracts';
import { argumentsBytesMax, type ProposedCall } from './proposed-call.ts';

/**
 * The most values in an answer, since more would block other requests. This permits 300 tokens with twenty alternatives
 * each. Each event of a stream has the same limit.
 */
export const answerValuesMax = 50_000;

/** The remaining bytes and values for the arguments of one answer, over all of its calls and choices. */
export class ArgumentsRoom {
  #bytes = argumentsBytesMax;
  #values = answerValuesMax;

  /** Throws UPSTREAM_FAILED when the arguments of the call exceed the remaining bytes or values. */
  take({ argumentsText, args }: ProposedCall): void {
    this.#bytes -= Buffer.byteLength(argumentsText);
    this.#values -= args === null ? 0 : valuesIn(args);
    if (this.#bytes >= 0 && this.#values >= 0) return;
    throw new AppError('UPSTREAM_FAILED', 'The calls in the answer of the model server exceed the limits of size');
  }
}

/** Reads the calls one by one. Other requests are served between two calls, since an answer may have many. */
export async function readCalls(proposed: Iterable<ProposedCall>, room: ArgumentsRoom): Promise<ProposedCall[]> {
  const calls: ProposedCall[] = [];
  for (const call of proposed) {
    room.take(call);
    calls.push(call);
    await nextTurn();
  }
  return calls;
}

/** The recursion is bounded, since the nesting of arguments is limited. */
function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((values: number, inner) => values + valuesIn(inner), 1);
}
