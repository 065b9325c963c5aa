import type { IncomingMessage } from 'node:http';
import {
  AppError,
  mayCall,
  rightsOf,
  speakingHeaders,
  workspaceParamOf,
  type PersonRole,
  type SignInId,
  type UserId,
  type WorkspaceId,
} from '@countersign/contracts';
import {
  anonymous,
  bearerToken,
  requirePresence,
  secretsEqual,
  type GuardRequest,
  type Guards,
} from '@countersign/service-kit';
import type { Context } from './context.ts';

/** A person whom the gateway asserts to be signed in. */
export type PersonCaller = {
  userId: UserId;
  sessionId: SignInId;
  /** When they last proved to be there. */
  provenAt: Date;
  /** By what this service asks the gateway as this person. */
  delegation: string;
};
/** The same person in the workspace that the request addresses, in a role that the route takes. */
export type WorkspaceCaller = PersonCaller & {
  workspaceId: WorkspaceId;
  role: PersonRole;
  /** By what this service asks the kernel as this person. */
  assertion: string;
};
/** A browser that brings a refresh cookie, which the route judges itself. */
export type Renewing = { renewing: true };
export type SiblingCaller = { sibling: true };

type Caller = PersonCaller | WorkspaceCaller | Renewing | SiblingCaller | undefined;
type Guarding = Pick<Context, 'config' | 'assertions' | 'now'>;

/** Who may call which class of route. */
export function createGuards(context: Guarding): Guards<Caller> {
  return {
    public: anonymous,
    session: async (request) => {
      const { provenBy, needsPresence } = request.route;
      if (provenBy === 'refresh_cookie') return { renewing: true };
      const person = await personOf(context, request);
      if (needsPresence === true) requirePresence(person.provenAt, context.now());
      return person;
    },
    service_internal: ({ req }: GuardRequest) => {
      if (!secretsEqual(bearerToken(req), context.config.serviceApiKey))
        throw new AppError('CREDENTIALS_INVALID', 'The bearer credential is not valid for this route');
      return { sibling: true };
    },
  };
}

async function personOf({ assertions }: Guarding, { req, route, params }: GuardRequest): Promise<PersonCaller> {
  const { sub, sid, auth_time, workspace_id: workspaceId, role } = await assertions.verify(bearerToken(req));
  const delegation = spokenIn(req, 'gateway');
  const person = { userId: sub, sessionId: sid, provenAt: new Date(auth_time * 1_000), delegation };
  if (route.leastRole === undefined) return person;
  if (workspaceId === undefined || role === undefined || !mayCall(rightsOf[role], route))
    throw new AppError('PERMISSION_DENIED', `This needs the role ${route.leastRole} in a workspace`);
  const param = workspaceParamOf(route);
  if (param !== undefined && params[param] !== workspaceId) throw new AppError('NOT_FOUND', 'There is no such object');
  const caller: WorkspaceCaller = { ...person, workspaceId, role, assertion: spokenIn(req, 'kernel') };
  return caller;
}

function spokenIn({ headers }: IncomingMessage, service: keyof typeof speakingHeaders): string {
  const text = headers[speakingHeaders[service]];
  if (typeof text === 'string') return text;
  throw new AppError('CREDENTIALS_INVALID', `The request does not say by what to ask the ${service}`);
}

export function callerKey(caller: unknown): string | null {
  if (typeof caller !== 'object' || caller === null || !('userId' in caller)) return null;
  const { userId } = caller as PersonCaller; // the guards above put nothing else there
  return 'workspaceId' in caller ? `${userId} ${String(caller.workspaceId)}` : userId;
}
