import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '@countersign/contracts';
import { argumentsBytesMax, type ProposedCall } from './proposed-call.ts';

/**
 * More values would block others: this allows 300 tokens with twenty alternatives each. A stream has as many in each of
 * its events.
 */
export const answerValuesMax = 50_000;

/** The values that the arguments of one answer have left, over all of its calls and choices. */
export class ArgumentsRoom {
  #bytes = argumentsBytesMax;
  #values = answerValuesMax;

  /** Throws UPSTREAM_FAILED where no room is left. */
  take({ argumentsText, args }: ProposedCall): void {
    this.#bytes -= Buffer.byteLength(argumentsText);
    this.#values -= args === null ? 0 : valuesIn(args);
    if (this.#bytes >= 0 && this.#values >= 0) return;
    throw new AppError('UPSTREAM_FAILED', 'The calls in the answer of the model server hold more than may be read');
  }
}

/** Reads one call after the other, and gives others their turn in between: many may come at once, and be told again. */
export async function readCalls(proposed: Iterable<ProposedCall>, room: ArgumentsRoom): Promise<ProposedCall[]> {
  const calls: ProposedCall[] = [];
  for (const call of proposed) {
    room.take(call);
    calls.push(call);
    await nextTurn();
  }
  return calls;
}

/** It nests no deeper than arguments may. */
function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((values: number, inner) => values + valuesIn(inner), 1);
}
