import type { IncomingMessage } from 'node:http';
import {
  AppError,
  keyAssertionTerms,
  mayCall,
  PrincipalId,
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
  isSignedToken,
  requirePresence,
  secretsEqual,
  signedTokenType,
  type GuardRequest,
  type Guards,
} from '@countersign/service-kit';
import type { Context } from './context.ts';

/** A caller that the gateway asserts. */
type Acting = {
  /** The person, or the creator of the API key. */
  userId: UserId;
  /** The principal of the person or key, which records name as the actor. */
  actor: PrincipalId;
  /** The credential for requests to the gateway as this caller. */
  delegation: string;
};
/** The workspace of the request, and a role there that the route accepts. */
type InWorkspace = {
  workspaceId: WorkspaceId;
  role: PersonRole;
  /** The credential for requests to the kernel as this caller. */
  assertion: string;
};
/** A person whom the gateway asserts to be signed in. */
export type PersonCaller = Acting & {
  sessionId: SignInId;
  /** The time of the last proof of presence. */
  provenAt: Date;
};
export type WorkspaceCaller = PersonCaller & InWorkspace;
type KeyCaller = Acting & InWorkspace & { isKey: true };
/** A person or an API key in a workspace, on routes that accept keys. */
export type KeyedCaller = WorkspaceCaller | KeyCaller;
/** A browser with a refresh cookie, which the route verifies itself. */
export type Renewing = { renewing: true };
export type SiblingCaller = { sibling: true };

type Caller = PersonCaller | KeyedCaller | Renewing | SiblingCaller | undefined;
type Guarding = Pick<Context, 'config' | 'assertions' | 'keyAssertions' | 'now'>;

/** The guard of each class of routes. It identifies the caller or throws. */
export function createGuards(context: Guarding): Guards<Caller> {
  return {
    public: anonymous,
    session: async (request) => {
      const { provenBy, needsPresence } = request.route;
      if (provenBy === 'refresh_cookie') return { renewing: true };
      if (isOfKey(request)) return keyOf(context, request);
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
  const actor = PrincipalId.parse(sub);
  const person = { userId: sub, actor, sessionId: sid, provenAt: new Date(auth_time * 1_000), delegation };
  if (route.leastRole === undefined) return person;
  if (workspaceId === undefined || role === undefined)
    throw new AppError('PERMISSION_DENIED', `This needs the role ${route.leastRole} in a workspace`);
  const place = { workspaceId, role };
  requirePlace({ route, params }, place);
  const caller: WorkspaceCaller = { ...person, ...place, assertion: spokenIn(req, 'kernel') };
  return caller;
}

/**
 * Checks that the role suffices for the route and that the path names no other workspace. Throws PERMISSION_DENIED and
 * NOT_FOUND.
 */
function requirePlace(
  { route, params }: Pick<GuardRequest, 'route' | 'params'>,
  { workspaceId, role }: Pick<InWorkspace, 'workspaceId' | 'role'>,
): void {
  if (!mayCall(rightsOf[role], route))
    throw new AppError('PERMISSION_DENIED', `This needs the role ${String(route.leastRole)} in a workspace`);
  const param = workspaceParamOf(route);
  if (param !== undefined && params[param] !== workspaceId)
    throw new AppError(
      'NOT_FOUND',
      'This object does not exist, or you have no access to it. Check its ID and the workspace',
    );
}

function isOfKey({ req }: GuardRequest): boolean {
  const bearer = bearerToken(req);
  return isSignedToken(bearer) && signedTokenType(bearer) === keyAssertionTerms.type;
}

/**
 * The API key of a request. Throws PERMISSION_DENIED on a route that accepts no keys, or accepts none of this key's
 * scopes. Also throws like requirePlace. The gateway has already checked the scopes.
 */
async function keyOf({ keyAssertions }: Guarding, { req, route, params }: GuardRequest): Promise<KeyCaller> {
  const { sub, sponsor, workspace_id: workspaceId, role, scopes } = await keyAssertions.verify(bearerToken(req));
  const { keyScopes = [], needsPresence, leastRole } = route;
  if (keyScopes.length === 0 || needsPresence === true || leastRole === undefined)
    throw new AppError('PERMISSION_DENIED', 'API keys cannot use this route. Sign in as a person');
  if (!keyScopes.some((scope) => scopes.includes(scope)))
    throw new AppError('PERMISSION_DENIED', `This needs a key with the scope ${keyScopes.join(' or ')}`);
  requirePlace({ route, params }, { workspaceId, role });
  const acting = { userId: sponsor, actor: sub, delegation: spokenIn(req, 'gateway') };
  return { ...acting, workspaceId, role, assertion: spokenIn(req, 'kernel'), isKey: true };
}

function spokenIn({ headers }: IncomingMessage, service: keyof typeof speakingHeaders): string {
  const text = headers[speakingHeaders[service]];
  if (typeof text === 'string') return text;
  throw new AppError('CREDENTIALS_INVALID', `The request has no credential with which the ${service} can be called`);
}

export function callerKey(caller: unknown): string | null {
  if (typeof caller !== 'object' || caller === null || !('actor' in caller)) return null;
  const { actor } = caller as Acting; // only the guards above set `actor`
  return 'workspaceId' in caller ? `${actor} ${String(caller.workspaceId)}` : actor;
}
