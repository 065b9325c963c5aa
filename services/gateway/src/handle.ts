import type { AnyRoute, Route } from '@countersign/contracts';
import { createHandle, prepared, type Endpoint, type Handle } from '@countersign/service-kit';
import type { Context } from './context.ts';
import {
  callerKey,
  type AgentCaller,
  type ConsoleCaller,
  type PersonCaller,
  type SessionCaller,
  type SiblingCaller,
  type WorkspaceCaller,
} from './guards.ts';
import type { Tx } from './store/database.ts';
import { actOnce } from './store/idempotency.ts';

/** Routes that a person calls without a workspace. */
export const handlePerson = createHandle<PersonCaller>('session');

/** Routes of the commercial gateway that a person calls without a workspace, and an API key in its own. */
export const handleCommercial = createHandle<PersonCaller | WorkspaceCaller>('commercial');

/** Routes about the session of a token. */
export const handleSession = provenBy<SessionCaller>('session_token');

/** Routes about the session of a browser. */
export const handleConsole = provenBy<ConsoleCaller>('browser_session');

/** Routes that one kind of session opens. The guard of their class checks every caller. */
function provenBy<Caller>(proof: AnyRoute['provenBy']): Handle<Caller> {
  const handle = createHandle<Caller>('session');
  return (route, options) => {
    if (route.provenBy !== proof) throw new Error(`${route.operation} is not proven by ${String(proof)}`);
    return handle(route, options);
  };
}

/** Routes that other services of this installation call. */
export const handleSibling = createHandle<SiblingCaller>('service_internal');

/** Routes for external agents. */
export const handleAgent = createHandle<AgentCaller>('agent');

const handleMembers = createHandle<WorkspaceCaller>('member', 'partner', 'owner');

/**
 * Routes of one workspace. A session that is due is rotated after all checks of the request, just before the handler. A
 * new token that never reached the person would lock them out.
 */
export const handleWorkspace: Handle<WorkspaceCaller> = (route, options) => {
  const endpointOf = handleMembers(route, options);
  return (handler) =>
    endpointOf(async (input) => {
      const token = await input.caller.rotateIfDue();
      if (token !== null) input.setHeader('X-New-Token', token);
      return handler(input);
    });
};

type ActInput<Params, Query, Body, Caller> = {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly caller: Caller;
  readonly requestId: string;
};

/** POST routes of one workspace. All their changes are made in one transaction, and once per Idempotency-Key. */
export function handleAct(context: Context) {
  return actingIn(context, handleWorkspace);
}

/** Like `handleAct`, for routes that a person calls without a workspace. */
export function handlePersonAct(context: Context) {
  return actingIn(context, handlePerson);
}

function actingIn<Caller>(context: Context, handle: Handle<Caller>) {
  return <Params, Query, Body, Reply>(route: Route<Params, Query, Body, Reply>) =>
    (act: (tx: Tx, input: ActInput<Params, Query, Body, Caller>) => Promise<Reply>): Endpoint =>
      handle(route, { idempotency: 'handler' })(async (input) => {
        const { idempotency } = input;
        const { answer, replayed } = await context.transaction(async (tx) => {
          const work = async () => JSON.stringify(await act(tx, input));
          if (idempotency === null) return { answer: await work(), replayed: false };
          const scope = `${route.operation} ${callerKey(input.caller)}`;
          return actOnce(tx, { ...idempotency, scope, now: await context.databaseNow(tx) }, work);
        });
        return prepared(route.status, answer, replayed ? { 'idempotency-replayed': 'true' } : {});
      });
}
