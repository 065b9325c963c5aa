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

type Deps = Pick<Context, 'log' | 'database' | 'databaseNow' | 'transaction'>;

export type Shown<Reply> = { status: number; body: Reply; headers?: Record<string, string> };

/**
 * Creates an object in a transaction that also stores the Idempotency-Key with the answer of `show`. Neither exists
 * without the other.
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
 * POST routes of one workspace that create an object once per Idempotency-Key. The handler may do more before and
 * after the transaction. An error frees the key, unless the object was created and the error may be temporary.
 */
export function handleOnce(context: Deps) {
  return onceIn(context, handleWorkspace);
}

/** Like `handleOnce`, for routes that API keys may use too. */
export function handleKeyedOnce(context: Deps) {
  return onceIn(context, handleKeyed);
}

function onceIn<Caller>(context: Deps, handle: Handle<Caller>) {
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
  context: Deps,
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

/** The store of one claim. The transaction of the handler may already have stored its answer. */
function storeOf(
  { database: { transaction } }: Pick<Context, 'database'>,
  claim: BegunClaim,
  outcome: Outcome,
): IdempotencyStore {
  return {
    begin: () => transaction((tx) => beginClaim(tx, claim)),
    // Work after the commit may have changed the answer.
    complete: async (_scope, _key, answer) => {
      if (outcome.committed === undefined)
        throw new Error(`${claim.scope}: the handler returned without committing its transaction`);
      if (isEqual(outcome.committed, answer)) return;
      await transaction((tx) => keepAnswer(tx, claim, { answer, state: 'done' }));
    },
    abandon: async () => {
      if (outcome.committed !== undefined && !isFinal(outcome.error)) return;
      await transaction((tx) => freeClaim(tx, claim, outcome.committed === undefined ? 'running' : 'done'));
    },
  };
}

function committingOnce<Reply>(
  { transaction }: Pick<Context, 'transaction'>,
  claim: BegunClaim,
  outcome: Outcome,
): Once<Reply> {
  return (show) => async (work) => {
    const { made, answer } = await transaction(async (tx) => {
      const result = await work(tx);
      const shown = storedOf(await show(result, tx));
      // Another request took over the claim, because this one seemed lost.
      if (!(await keepAnswer(tx, claim, { answer: shown, state: 'running' }))) throw inFlight();
      return { made: result, answer: shown };
    });
    outcome.committed = answer;
    return made;
  };
}

/** Whether a repeated request would fail in the same way. */
function isFinal(error: unknown): boolean {
  return isAppError(error) && !errorCodes[error.code].retryable;
}

function isEqual(a: StoredAnswer, b: StoredAnswer): boolean {
  return a.status === b.status && a.text === b.text;
}

function storedOf({ status, body, headers = {} }: Shown<unknown>): StoredAnswer {
  return { status, text: JSON.stringify(body), headers };
}

function preparedOf({ status, text, headers }: StoredAnswer, more: Record<string, string> = {}) {
  return prepared(status, text, { ...headers, ...more });
}
