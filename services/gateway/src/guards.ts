import {
  AppError,
  isAppError,
  keyPrincipal,
  mayCall,
  rightsOf,
  type AnyRoute,
  type WorkspaceId,
} from '@countersign/contracts';
import type { Role, User } from '@countersign/contracts/gateway';
import {
  anonymous,
  bearerToken,
  requirePresence,
  secretsEqual,
  type Guard,
  type GuardRequest,
  type Guards,
  type PersonAudience,
  type ParsedRequest,
} from '@countersign/service-kit';
import { authenticateKey } from './api-keys/authenticate-key.ts';
import { membershipOfKey, refusalOfKey } from './api-keys/key-rights.ts';
import { isApiKey } from './api-keys/secret.ts';
import { recordDenial } from './audit/record-denial.ts';
import { accessCookieOf } from './console/access-cookie.ts';
import { isKeyDelegation, keyOfDelegation } from './console/key-of-delegation.ts';
import { isDelegation, personOfDelegation } from './console/person-of-delegation.ts';
import { personOfCookie, type Presence } from './console/person-of-cookie.ts';
import { presenceOf } from './console/presence-of.ts';
import { isDeviceToken, personOfDevice } from './console/person-of-device.ts';
import { requireBehindBasic } from './console/require-behind-basic.ts';
import { requireSamePage } from './console/same-page.ts';
import type { Context } from './context.ts';
import { authenticate, rotateIfDue } from './identity/authenticate.ts';
import { isAgentCredential } from './forwarding/kernel-credential.ts';
import { presentedCredential } from './identity/credential.ts';
import { notFound } from './not-found.ts';
import type { StoredApiKey } from './store/api-keys.ts';
import type { StoredSession } from './store/sessions.ts';
import { findMembership, type Membership } from './store/workspaces.ts';
import { addressedWorkspace, workspaceNames } from './workspaces/addressed-workspace.ts';
import { lowerRole, roleTooLow } from './workspaces/role.ts';

/** The caller of a request: a person, or an API key of a person. */
type Acting = {
  user: User;
  /** The actor in the audit log: the user or the key. */
  actor: string;
  /** Rotates a session that is due and returns the new token. `null` when it is not due or another request did it. */
  rotateIfDue(): Promise<string | null>;
  /**
   * The one workspace that the credential opens, and the highest role there. `null` when the person has all of their
   * rights, and for an API key, which has its workspace in `key`.
   */
  within: { workspaceId: WorkspaceId; role: Role } | null;
};
/** A person, proven by the token of a session of this gateway. */
export type SessionCaller = Acting & { session: StoredSession };
/** `service`: the service that calls on behalf of the key. `null` when the key itself calls. */
type KeyCaller = Acting & { key: StoredApiKey; service: PersonAudience | null };
/** A person at a browser, proven by a session of the control plane. */
export type ConsoleCaller = Acting & { console: Presence };
/** A program that a person has authorized for a workspace. */
type DeviceCaller = Acting & { device: Pick<Presence, 'sessionId'> };
/** A person on whose behalf another service calls. */
type DelegatedCaller = Acting & { delegated: Presence & { service: PersonAudience } };
export type PersonCaller = SessionCaller | ConsoleCaller | DelegatedCaller;
/** Another service of this installation. */
export type SiblingCaller = { sibling: true };
export type AnyActing = PersonCaller | DeviceCaller | KeyCaller;
/** A person or a key in a workspace, with at least the role that the route requires. */
export type WorkspaceCaller = AnyActing & Membership;

/** An external agent with a key of a workspace, or with its own credential at the kernel, which verifies it. */
export type AgentCaller =
  | { kind: 'key'; actor: string; key: StoredApiKey }
  /** `actor` is `null` until the kernel has accepted the credential. */
  | { kind: 'agent'; actor: string | null; credential: string };

/** The guard of each class of routes. It identifies and authorizes the caller, or throws. */
export function createGuards(
  context: Context,
): Guards<PersonCaller | WorkspaceCaller | AgentCaller | SiblingCaller | undefined> {
  return {
    public: anonymous,
    session: {
      authenticate: (request) => callerOf(context, request),
      authorize: (acting: AnyActing, { route }) => signedIn(acting, route),
    },
    commercial: {
      authenticate: (request) => callerOf(context, request),
      authorize: (acting: AnyActing, request) =>
        'key' in acting ? keyInWorkspace(context, acting, request) : signedIn(acting, request.route),
    },
    service_internal: (request) => siblingCaller(context, request),
    member: workspaceGuard(context, 'member'),
    partner: workspaceGuard(context, 'partner'),
    owner: workspaceGuard(context, 'owner'),
    agent: agentGuard(context),
  };
}

/** Identifies the caller of a stored answer, with the workspace: an answer is never replayed in another workspace. */
export function callerKey(caller: unknown): string | null {
  if (typeof caller !== 'object' || caller === null || !('actor' in caller)) return null;
  const { actor } = caller as Pick<Acting | AgentCaller, 'actor'>; // only the guards above set `actor`
  return 'workspaceId' in caller ? `${actor} ${String(caller.workspaceId)}` : actor;
}

/**
 * The person or key of a request that is not authorized yet. `null` when there is none, and for agents of the kernel.
 */
export async function whoBrought(context: Context, req: GuardRequest['req']): Promise<unknown> {
  try {
    return await actingCaller(context, req, 'GET');
  } catch (error) {
    if (isAppError(error)) return null;
    throw error;
  }
}

async function callerOf(context: Context, { req, route }: Pick<GuardRequest, 'req' | 'route'>): Promise<AnyActing> {
  const acting = await actingCaller(context, req, route.method);
  requireBehindBasic(serviceOf(acting), route);
  return acting;
}

function serviceOf(acting: AnyActing): PersonAudience | null {
  if ('delegated' in acting) return acting.delegated.service;
  return 'key' in acting ? acting.service : null;
}

async function actingCaller(
  context: Context,
  req: GuardRequest['req'],
  method: AnyRoute['method'],
): Promise<AnyActing> {
  const cookie = accessCookieOf(req, context.config);
  if (cookie !== null) {
    const { user, csrfToken, ...presence } = await personOfCookie(context, cookie);
    requireSamePage({ req, method, csrfToken });
    return { console: presence, ...unlimited(user) };
  }
  const credential = presentedCredential(req);
  if (isApiKey(credential)) {
    const key = await authenticateKey(context, credential);
    return keyCaller(key, null);
  }
  if (isKeyDelegation(credential)) {
    const { key, service } = await keyOfDelegation(context, credential);
    return keyCaller(key, service);
  }
  if (isDelegation(credential)) {
    const { user, within, ...delegated } = await personOfDelegation(context, credential);
    return { delegated, ...unlimited(user), within };
  }
  if (isDeviceToken(credential)) {
    const { user, within, sessionId } = await personOfDevice(context, credential);
    return { device: { sessionId }, ...unlimited(user), within };
  }
  const session = await authenticate(context, credential);
  const { user } = session;
  return { session, ...unlimited(user), rotateIfDue: () => rotateIfDue(context, session) };
}

function keyCaller(key: StoredApiKey, service: KeyCaller['service']): KeyCaller {
  return { key, service, ...unlimited(key.user), actor: keyPrincipal(key.id, key.environment) };
}

function unlimited(user: User): Acting {
  return { user, actor: user.id, rotateIfDue: async () => null, within: null };
}

const otherSession: Record<NonNullable<AnyRoute['provenBy']>, string> = {
  session_token: 'This route is for sessions with a token. The session of a browser is at /api/session',
  browser_session: 'This route is for the session of a browser, but the request has a token',
  refresh_cookie: 'A browser renews its session with its cookie',
};

function signedIn(acting: AnyActing, { provenBy }: AnyRoute): PersonCaller {
  if (acting.within !== null)
    throw new AppError(
      'PERMISSION_DENIED',
      'This credential is limited to one workspace, and the route belongs to no workspace',
    );
  if ('delegated' in acting && provenBy === undefined) return acting;
  if ('session' in acting && provenBy !== 'browser_session') return acting;
  if ('console' in acting && provenBy !== 'session_token') return acting;
  if (!('key' in acting)) throw new AppError('PERMISSION_DENIED', otherSession[provenBy ?? 'session_token']);
  throw new AppError('PERMISSION_DENIED', 'API keys cannot use this route. Sign in as a person');
}

/** On routes that a person calls without a workspace, a key calls in its own workspace. */
async function keyInWorkspace(context: Context, acting: KeyCaller, request: ParsedRequest): Promise<WorkspaceCaller> {
  const caller = { ...acting, ...(await membershipOf(context, acting, request)) };
  const refusal = refusalOfKey(acting.key, request.route);
  if (refusal === null) return caller;
  await recordDenial(context, denialOf(caller, request));
  throw refusal;
}

type KernelAgent = Extract<AgentCaller, { kind: 'agent' }>;

function agentGuard(context: Context): Guard<AgentCaller, KernelAgent | AnyActing> {
  return {
    authenticate: async ({ req, route }) => {
      const credential = presentedCredential(req);
      if (!isAgentCredential(credential)) return callerOf(context, { req, route });
      return { kind: 'agent', actor: context.knownCredentials.nameOf(credential), credential };
    },
    authorize: (caller, request) => ('kind' in caller ? caller : agentByKey(caller, request)),
  };
}

function siblingCaller({ config }: Context, { req }: GuardRequest): SiblingCaller {
  const key = (config.controlPlane ?? config.commercial)?.serviceApiKey;
  if (key === undefined || !secretsEqual(bearerToken(req), key))
    throw new AppError('CREDENTIALS_INVALID', 'The bearer credential is not valid for this route');
  return { sibling: true };
}

function agentByKey(caller: AnyActing, { req, route, params, query }: GuardRequest): AgentCaller {
  if (!('key' in caller)) throw new AppError('PERMISSION_DENIED', 'Agents cannot use a session. Create an API key');
  const { key, actor } = caller;
  const refusal = refusalOfKey(key, route);
  if (refusal !== null) throw refusal;
  // Only the other service reads the body, so the body cannot name the workspace here.
  if (membershipOfKey(key, addressedBy(workspaceNames({ req, route, params, query, body: null }))) === null)
    throw notFound();
  return { kind: 'key', actor, key };
}

function workspaceGuard(context: Context, least: Role): Guard<WorkspaceCaller, AnyActing> {
  return {
    authenticate: (request) => callerOf(context, request),
    authorize: async (acting, request) => {
      const caller = { ...acting, ...(await membershipOf(context, acting, request)) };
      const refusal = mayCall(rightsOf[caller.role], request.route)
        ? refusalOfCredential(acting, request.route)
        : roleTooLow(least, caller.role);
      if (refusal === null) {
        if (request.route.needsPresence === true) requirePresence(await provenAtOf(context, caller), context.now());
        return caller;
      }
      await recordDenial(context, denialOf(caller, request));
      throw refusal;
    },
  };
}

/** The time of the last proof of presence. For a delegated caller, this gateway stated it in the delegation. */
async function provenAtOf({ database }: Context, caller: WorkspaceCaller): Promise<Date> {
  return ('delegated' in caller ? caller.delegated : await presenceOf(database.reader, caller)).provenAt;
}

function refusalOfCredential(acting: AnyActing, route: AnyRoute): AppError | null {
  if ('key' in acting) return refusalOfKey(acting.key, route);
  if (!('device' in acting) || route.opensToPrograms === true) return null;
  if (route.method === 'GET' && route.sessionOnly !== true) return null;
  return new AppError('PERMISSION_DENIED', 'Authorized programs cannot use this route. Sign in with a browser');
}

async function membershipOf(
  context: Context,
  caller: AnyActing,
  { req, route, params, query, parsed }: ParsedRequest,
): Promise<Membership> {
  const addressed = addressedBy(workspaceNames({ req, route, params, query, body: parsed.body }));
  const membership =
    'key' in caller ? membershipOfKey(caller.key, addressed) : await membershipOfPerson(context, caller, addressed);
  if (membership === null) throw notFound();
  return membership;
}

type Addressed = ReturnType<typeof addressedWorkspace>;

async function membershipOfPerson(
  { database }: Context,
  { user, within }: Acting,
  addressed: Addressed,
): Promise<Membership | null> {
  const workspaceId = addressed.kind === 'named' ? addressed.workspaceId : within?.workspaceId;
  if (workspaceId === undefined || (within !== null && within.workspaceId !== workspaceId)) return null;
  const membership = await findMembership(database.reader, workspaceId, user.id);
  if (membership === null || within === null) return membership;
  return { ...membership, role: lowerRole(within.role, membership.role) };
}

function addressedBy(names: Parameters<typeof addressedWorkspace>[0]): Addressed {
  const addressed = addressedWorkspace(names);
  if (addressed.kind !== 'conflict') return addressed;
  throw new AppError('WORKSPACE_CONTEXT_CONFLICT', 'The request names two different workspaces. Name one', {
    param: 'workspaceId',
  });
}

function denialOf({ workspaceId, actor, role }: WorkspaceCaller, { route, requestId }: ParsedRequest) {
  return { workspaceId, action: route.operation, actor, details: { role }, requestId };
}
