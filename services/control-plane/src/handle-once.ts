import type { IncomingMessage } from 'node:http';
import { errorCodes, isAppError, type Route } from '@countersign/contracts';
import {
  answerOnce,
  inFlight,
  prepared,
  type Endpoint,
  type Handle,
  type IdempotencyClaim,
  type IdempotencyStore,
  type StoredAnswer,
} from '@countersign/service-kit';
import type { Context } from './context.ts';
import { callerKey } from './guards.ts';
import { handleKeyed, handleWorkspace } from './handle.ts';
import { beginClaim, freeClaim, keepAnswer, type BegunClaim } from './store/answer-keys.ts';
import type { TransactionFor, Tx } from './store/database.ts';

export type Shown<Reply> = { status: number; body: Reply; headers?: Record<string, string> };

/**
 * The transaction that makes a thing. It keeps the Idempotency-Key with the answer that `show` reads in it: there is neither a thing
 * without its key nor a key without its thing.
 */
type Once<Reply> = <Made>(show: (made: Made, tx: Tx) => Shown<Reply> | Promise<Shown<Reply>>) => TransactionFor<Made>;

type OnceInput<Params, Query, Body, Caller> = {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly caller: Caller;
  readonly requestId: string;
  readonly req: IncomingMessage;
};

/**
 * POST routes of one workspace that make something, once for an Idempotency-Key. The handler may do more before and after the transaction.
 * An error frees the key, unless a thing was made and the error may be temporary.
 */
export function handleOnce(context: Context) {
  return onceIn(context, handleWorkspace);
}

/** The same of routes that API keys open too. */
export function handleKeyedOnce(context: Context) {
  return onceIn(context, handleKeyed);
}

function onceIn<Caller>(context: Context, handle: Handle<Caller>) {
  return <Params, Query, Body, Reply>(route: Route<Params, Query, Body, Reply>) =>
    (handler: (input: OnceInput<Params, Query, Body, Caller>, once: Once<Reply>) => Promise<Shown<Reply>>): Endpoint =>
      handle(route, { idempotency: 'handler' })(async (input) => {
        if (input.idempotency === null) return preparedOf(storedOf(await handler(input, () => context.transaction)));
        const scope = `${route.operation} ${String(callerKey(input.caller))}`;
        const keyed = { claim: input.idempotency, scope };
        const { answer, replayed } = await answerKeyed(context, keyed, (once: Once<Reply>) => handler(input, once));
        return preparedOf(answer, replayed ? { 'idempotency-replayed': 'true' } : {});
      });
}

type Keyed = { claim: IdempotencyClaim; scope: string };

/** The result of a claim: the answer that was committed with the change, and the error that ended the request. */
type Outcome = { committed?: StoredAnswer; error?: unknown };

async function answerKeyed<Reply>(
  context: Context,
  keyed: Keyed,
  handler: (once: Once<Reply>) => Promise<Shown<Reply>>,
): Promise<{ answer: StoredAnswer; replayed: boolean }> {
  const { claim, scope } = keyed;
  const begunAt = await context.database.transaction(context.databaseNow);
  const begun = { ...claim, scope, begunAt };
  const outcome: Outcome = {};
  const store = storeOf(context, begun, outcome);
  return await answerOnce({ ...keyed, store, log: context.log }, async () => {
    try {
      return storedOf(await handler(committingOnce(context, begun, outcome)));
    } catch (error) {
      outcome.error = error;
      throw error;
    }
  });
}

/** The store of one claim, which its transaction may have completed already. */
function storeOf({ database: { transaction } }: Context, claim: BegunClaim, outcome: Outcome): IdempotencyStore {
  return {
    begin: () => transaction((tx) => beginClaim(tx, claim)),
    // Work after the commit may have changed the answer.
    complete: async (_scope, _key, answer) => {
      if (outcome.committed === undefined) throw new Error(`${claim.scope} made nothing through its transaction`);
      if (isEqual(outcome.committed, answer)) return;
      await transaction((tx) => keepAnswer(tx, claim, { answer, state: 'done' }));
    },
    abandon: async () => {
      if (outcome.committed !== undefined && !isFinal(outcome.error)) return;
      await transaction((tx) => freeClaim(tx, claim, outcome.committed === undefined ? 'running' : 'done'));
    },
  };
}

function committingOnce<Reply>({ transaction }: Context, claim: BegunClaim, outcome: Outcome): Once<Reply> {
  return (show) => async (work) => {
    const { made, answer } = await transaction(async (tx) => {
      const result = await work(tx);
      const shown = storedOf(await show(result, tx));
      // Another request took the claim over, because this one seemed lost.
      if (!(await keepAnswer(tx, claim, { answer: shown, state: 'running' }))) throw inFlight();
      return { made: result, answer: shown };
    });
    outcome.committed = answer;
    return made;
  };
}

/** The caller is not to send the request again. */
function isFinal(error: unknown): boolean {
  return isAppError(error) && !errorCodes[error.code].retryable;
}

function isEqual(one: StoredAnswer, other: StoredAnswer): boolean {
  return one.status === other.status && one.text === other.text;
}

function storedOf({ status, body, headers = {} }: Shown<unknown>): StoredAnswer {
  return { status, text: JSON.stringify(body), headers };
}

function preparedOf({ status, text, headers }: StoredAnswer, more: Record<string, string> = {}) {
  return prepared(status, text, { ...headers, ...more });
}
