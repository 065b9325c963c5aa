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
import type { StoredApiKey } from './store/api-keys.ts';
import type { StoredSession } from './store/sessions.ts';
import { findMembership, type Membership } from './store/workspaces.ts';
import { addressedWorkspace, workspaceNames } from './workspaces/addressed-workspace.ts';
import { lowerRole, roleTooLow } from './workspaces/role.ts';

/** Who a request comes from: a person, or a key of theirs. */
type Acting = {
  user: User;
  /** Who did it, in the audit log: the user, or the key. */
  actor: string;
  /** The token of the session's successor, for one of the requests that come with an old session; null for all others. */
  rotateIfDue(): Promise<string | null>;
  /** The one workspace that the credential opens, and the highest role there; null: whatever the person may. */
  within: { workspaceId: WorkspaceId; role: Role } | null;
};
/** A person, proven by a session. */
export type SessionCaller = Acting & { session: StoredSession };
/** `service`: the one that acts for the key. `null` when the request brings the key itself. */
type KeyCaller = Acting & { key: StoredApiKey; service: PersonAudience | null };
/** A person at a browser, proven by a session of the control plane. */
export type ConsoleCaller = Acting & { console: Presence };
/** A program that a person has let into a workspace. */
type DeviceCaller = Acting & { device: Pick<Presence, 'sessionId'> };
/** A person whose request another service serves. */
type DelegatedCaller = Acting & { delegated: Presence & { service: PersonAudience } };
export type PersonCaller = SessionCaller | ConsoleCaller | DelegatedCaller;
/** A sibling of ours. */
export type SiblingCaller = { sibling: true };
type AnyActing = PersonCaller | DeviceCaller | KeyCaller;
/** A person or a key of theirs in a workspace, in the role that the route asks for or a higher one. */
export type WorkspaceCaller = AnyActing & Membership;

/** An agent from outside: by a key of a workspace, or by a credential of its own at the kernel, which judges it. */
export type AgentCaller =
  | { kind: 'key'; actor: string; key: StoredApiKey }
  /** `actor` is null until the kernel has taken the credential. */
  | { kind: 'agent'; actor: string | null; credential: string };

/** Who may call which class of route. */
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

/** An answer for one workspace must not be given for another, although both requests look alike. */
export function callerKey(caller: unknown): string | null {
  if (typeof caller !== 'object' || caller === null || !('actor' in caller)) return null;
  const { actor } = caller as Pick<Acting | AgentCaller, 'actor'>; // the guards above put nothing else there
  return 'workspaceId' in caller ? `${actor} ${String(caller.workspaceId)}` : actor;
}

type PersonBehind = {
  userId: string;
  actor: string;
  /** The one workspace that their key, or a program that they let in, is for; null: they came themselves. */
  within: WorkspaceId | null;
};

/** The person behind a recognised principal; `null` for none, and for agents that the kernel knows. */
export function personBehind(principal: unknown): PersonBehind | null {
  if (typeof principal !== 'object' || principal === null || !('user' in principal)) return null;
  const acting = principal as AnyActing; // the guards above recognise no other kind with a user
  const within = 'key' in acting ? acting.key.membership.workspaceId : (acting.within?.workspaceId ?? null);
  return { userId: acting.user.id, actor: acting.actor, within };
}

/** An agent that the kernel alone knows. */
export function isKernelAgent(principal: unknown): boolean {
  return typeof principal === 'object' && principal !== null && 'kind' in principal && principal.kind === 'agent';
}

/** The person or key behind a request that is not allowed yet; `null` for none, and for agents of the kernel. */
export async function whoBrought(context: Context, req: GuardRequest['req']): Promise<unknown> {
  try {
    return await actingCaller(context, req, 'GET');
  } catch (error) {
    if (isAppError(error)) return null;
    throw error;
  }
}

/** One text for everything that is absent or belongs to others. */
export function notFound(): AppError {
  return new AppError('NOT_FOUND', 'There is no such object');
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
  session_token: 'This is about sessions of tokens; that of a browser is at /api/session',
  browser_session: 'This is about the session of a browser, and the request brings a token',
  refresh_cookie: 'A browser renews its session by its cookie',
};

function signedIn(acting: AnyActing, { provenBy }: AnyRoute): PersonCaller {
  if (acting.within !== null)
    throw new AppError('PERMISSION_DENIED', 'This credential is for one workspace, and the route is about none');
  if ('delegated' in acting && provenBy === undefined) return acting;
  if ('session' in acting && provenBy !== 'browser_session') return acting;
  if ('console' in acting && provenBy !== 'session_token') return acting;
  if (!('key' in acting)) throw new AppError('PERMISSION_DENIED', otherSession[provenBy ?? 'session_token']);
  throw new AppError('PERMISSION_DENIED', 'A person does this, signed in; an API key does not');
}

/** A key is for one workspace, so it calls in that workspace where a person calls in none. */
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
  if (!('key' in caller)) throw new AppError('PERMISSION_DENIED', 'A session opens no door of agents: make an API key');
  const { key, actor } = caller;
  const refusal = refusalOfKey(key, route);
  if (refusal !== null) throw refusal;
  // A body is the other service's to read, and names no workspace there.
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

/** A person for whom the control plane asks proved presence when this gateway said so. */
async function provenAtOf({ database }: Context, caller: WorkspaceCaller): Promise<Date> {
  return ('delegated' in caller ? caller.delegated : await presenceOf(database.reader, caller)).provenAt;
}

function refusalOfCredential(acting: AnyActing, route: AnyRoute): AppError | null {
  if ('key' in acting) return refusalOfKey(acting.key, route);
  if (!('device' in acting) || route.opensToPrograms === true) return null;
  if (route.method === 'GET' && route.sessionOnly !== true) return null;
  return new AppError('PERMISSION_DENIED', 'A person does this at a browser; a program that they have let in does not');
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
  throw new AppError('WORKSPACE_CONTEXT_CONFLICT', 'The request names two workspaces', { param: 'workspaceId' });
}

function denialOf({ workspaceId, actor, role }: WorkspaceCaller, { route, requestId }: ParsedRequest) {
  return { workspaceId, action: route.operation, actor, details: { role }, requestId };
}
