import { AppError } from '@countersign/contracts';
import type { Route } from '@countersign/contracts';
import type { Role } from '@countersign/contracts/gateway';
import {
  bearerToken,
  createHandle,
  type Endpoint,
  type EndpointOptions,
  type Guard,
  type GuardRequest,
  type Guards,
  type Handler,
  type ParsedRequest,
} from '@countersign/service-kit';
import type { Context } from './context.ts';
import { authenticate, rotateIfDue } from './identity/authenticate.ts';
import { recordAudit } from './store/audit.ts';
import type { StoredSession } from './store/sessions.ts';
import { findMembership, type Membership } from './store/workspaces.ts';
import { addressedWorkspace } from './workspaces/addressed-workspace.ts';
import { hasRole } from './workspaces/role.ts';

/** A person, proven by a session. */
export type SessionCaller = { session: StoredSession };
/** A person in a workspace, in the role that the route asks for or a higher one. */
export type WorkspaceCaller = SessionCaller & Membership;

const handleSessionClass = createHandle<SessionCaller>('session');
const handleWorkspaceClasses = createHandle<WorkspaceCaller>('member', 'partner', 'owner');

export type Handle<Caller> = <Params, Query, Body, Reply>(
  route: Route<Params, Query, Body, Reply>,
  handler: Handler<Params, Query, Body, Reply, Caller>,
  options?: EndpointOptions,
) => Endpoint;

export type Handles = { forSession: Handle<SessionCaller>; forWorkspace: Handle<WorkspaceCaller> };

/**
 * The two ways in. A session that is due is rotated as late as possible, after everything that could refuse the request: a
 * successor that never reaches its owner would lock the owner out.
 */
export function handlesOf(context: Context): Handles {
  return {
    forSession: (route, handler, options) => handleSessionClass(route, options)(handler),
    forWorkspace: (route, handler, options) =>
      handleWorkspaceClasses(
        route,
        options,
      )(async (input) => {
        const token = await rotateIfDue(context, input.caller.session);
        if (token !== null) input.setHeader('X-New-Token', token);
        return handler(input);
      }),
  };
}

/** Operations that a deputy may carry out although the class of the route names the owner. */
const deputyRoles: Readonly<Record<string, Role>> = { 'resolve-workspace-approval': 'partner' };

export function guardsOf(context: Context): Guards<unknown> {
  const session = async ({ req }: GuardRequest) => ({ session: await authenticate(context, bearerToken(req)) });
  return {
    public: () => undefined,
    session,
    member: workspaceGuard(context, 'member'),
    partner: workspaceGuard(context, 'partner'),
    owner: workspaceGuard(context, 'owner'),
  };
}

function workspaceGuard(context: Context, least: Role): Guard<WorkspaceCaller, SessionCaller> {
  return {
    authenticate: async ({ req }) => ({ session: await authenticate(context, bearerToken(req)) }),
    authorize: async (caller, request) => {
      const membership = await membershipOf(context, caller.session, request);
      const needed = deputyRoles[request.route.operation] ?? least;
      if (hasRole(membership.role, needed)) return { ...caller, ...membership };
      await recordDenial(context, { ...caller, ...membership }, request);
      throw roleTooLow(needed, membership.role);
    },
  };
}

async function membershipOf(context: Context, session: StoredSession, request: ParsedRequest): Promise<Membership> {
  const addressed = addressedWorkspace(namesIn(request));
  if (addressed.kind === 'conflict')
    throw new AppError('WORKSPACE_CONTEXT_CONFLICT', 'The request names two workspaces', { param: 'workspaceId' });
  const membership =
    addressed.kind === 'missing'
      ? null
      : await findMembership(context.database.pool, addressed.workspaceId, session.user.id);
  if (membership === null) throw notFound();
  return membership;
}

function namesIn({ req, route, params, parsed }: ParsedRequest) {
  const header = req.headers['x-workspace-id'];
  return {
    path: route.path.startsWith('/api/workspace/') ? params['id'] : undefined,
    header: typeof header === 'string' ? header : undefined,
    query: workspaceIdIn(parsed.query),
    body: workspaceIdIn(parsed.body),
  };
}

function workspaceIdIn(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('workspaceId' in value)) return undefined;
  return typeof value.workspaceId === 'string' ? value.workspaceId : undefined;
}

async function recordDenial(context: Context, caller: WorkspaceCaller, request: ParsedRequest): Promise<void> {
  const { workspaceId, session, role } = caller;
  const denial = { action: request.route.operation, verdict: 'deny', reason: 'PERMISSION_DENIED' } as const;
  const entry = { ...denial, workspaceId, actor: session.user.id, details: { role }, requestId: request.requestId };
  await context.transaction((tx) => recordAudit(tx, entry, context.now()));
}

/** One text for everything that is absent or somebody else's. */
export function notFound(): AppError {
  return new AppError('NOT_FOUND', 'There is no such object');
}

function roleTooLow(needed: Role, role: Role): AppError {
  return new AppError('PERMISSION_DENIED', `This needs the role ${needed}`, { details: { needed, role } });
}
