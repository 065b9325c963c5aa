import {
  AppError,
  keyAssertionTerms,
  mayCall,
  PrincipalId,
  rightsOf,
  speakingHeaders,
  type ApiKeyScope,
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
import { authenticateScim } from './identity/authenticate-scim.ts';
import type { ScimCaller } from './provisioning/scim-caller.ts';

/** A signed-in person, as asserted by the gateway. */
export type PersonCaller = {
  userId: UserId;
  sessionId: SignInId;
  /** The time when the person last proved their presence. */
  provenAt: Date;
};
export type SiblingCaller = { sibling: true };

/** A caller of the basic API, with the delegation that lets this service call the gateway as that caller. */
type Acting = {
  /** The person, or the maker of the API key. */
  userId: UserId;
  /** The principal of the person or of the key. */
  actor: PrincipalId;
  isKey: boolean;
  delegation: string;
};
/** A caller with the addressed workspace and a role in it that the route accepts. */
export type WorkspaceCaller = Acting & { workspaceId: WorkspaceId; role: PersonRole };
/** A caller of a route without a workspace. `workspaceId` is `null` for a person. An API key has its own workspace. */
export type BasicCaller = Acting & { workspaceId: WorkspaceId | null };

type Guarding = Pick<Context, 'config' | 'assertions' | 'keyAssertions' | 'now' | 'database' | 'transaction'>;

/** Creates the access check of each class of routes. */
export function createGuards(
  context: Guarding,
): Guards<PersonCaller | BasicCaller | WorkspaceCaller | ScimCaller | SiblingCaller | undefined> {
  return {
    public: anonymous,
    session: async (request) => {
      const person = await personOf(context, request);
      if (request.route.needsPresence === true) requirePresence(person.provenAt, context.now());
      return person;
    },
    commercial: (request) => (isOfKey(request) ? keyOf(context, request) : personWithDelegation(context, request)),
    commercial_admin: async (request) => {
      const person = await personOf(context, request);
      if (!context.config.installationAdmins.has(person.userId))
        throw new AppError(
          'PERMISSION_DENIED',
          'You do not administer this installation. Ask the operator to add your user id',
        );
      requirePresence(person.provenAt, context.now());
      return person;
    },
    scim: ({ req }) => authenticateScim(context, bearerToken(req)),
    service_internal: ({ req }) => {
      if (!secretsEqual(bearerToken(req), context.config.serviceApiKey))
        throw new AppError('CREDENTIALS_INVALID', 'The bearer credential is not valid for this route');
      return { sibling: true };
    },
  };
}

type Place = { workspaceId: WorkspaceId; role: PersonRole };

function isOfKey({ req }: GuardRequest): boolean {
  const bearer = bearerToken(req);
  return isSignedToken(bearer) && signedTokenType(bearer) === keyAssertionTerms.type;
}

async function personWithDelegation(context: Guarding, request: GuardRequest): Promise<BasicCaller | WorkspaceCaller> {
  const { sub, auth_time, workspace_id, role } = await context.assertions.verify(bearerToken(request.req));
  const acting = { userId: sub, actor: PrincipalId.parse(sub), isKey: false, delegation: delegationIn(request) };
  const place = workspace_id === undefined || role === undefined ? null : { workspaceId: workspace_id, role };
  requirePlace(request, place);
  if (request.route.needsPresence === true) requirePresence(new Date(auth_time * 1_000), context.now());
  return { ...acting, ...(place ?? { workspaceId: null }) };
}

/** Verifies an API key with its scopes and role. The gateway checks them again. */
async function keyOf({ keyAssertions }: Guarding, request: GuardRequest): Promise<WorkspaceCaller> {
  const { sub, sponsor, workspace_id, role, scopes } = await keyAssertions.verify(bearerToken(request.req));
  const place = { workspaceId: workspace_id, role };
  requireScope(request, scopes);
  requirePlace(request, place);
  return { userId: sponsor, actor: sub, isKey: true, delegation: delegationIn(request), ...place };
}

function requireScope(
  { route: { keyScopes = [], needsPresence } }: GuardRequest,
  scopes: readonly ApiKeyScope[],
): void {
  if (keyScopes.length === 0 || needsPresence === true)
    throw new AppError('PERMISSION_DENIED', 'API keys cannot use this route. Sign in as a person');
  if (!keyScopes.some((scope) => scopes.includes(scope)))
    throw new AppError('PERMISSION_DENIED', `This needs a key with the scope ${keyScopes.join(' or ')}`);
}

function requirePlace({ route }: GuardRequest, place: Place | null): void {
  if (route.leastRole === undefined || (place !== null && mayCall(rightsOf[place.role], route))) return;
  throw new AppError('PERMISSION_DENIED', `This needs the role ${route.leastRole} in a workspace`);
}

function delegationIn({ req }: GuardRequest): string {
  const text = req.headers[speakingHeaders.gateway];
  if (typeof text === 'string') return text;
  throw new AppError('CREDENTIALS_INVALID', 'The request has no delegation for the gateway. Send it to the gateway');
}

async function personOf({ assertions }: Guarding, { req }: GuardRequest): Promise<PersonCaller> {
  const { sub, sid, auth_time } = await assertions.verify(bearerToken(req));
  return { userId: sub, sessionId: sid, provenAt: new Date(auth_time * 1_000) };
}

/**
 * The caller to whom idempotency keys belong. `null` for a sibling or an unknown caller, because such callers must not
 * share idempotency keys.
 */
export function callerKey(caller: unknown): string | null {
  if (typeof caller !== 'object' || caller === null) return null;
  if ('tokenId' in caller) return String(caller.tokenId);
  if (!('userId' in caller)) return null;
  if (!('actor' in caller && 'workspaceId' in caller)) return String(caller.userId);
  return `${String(caller.actor)} ${String(caller.workspaceId)}`;
}
