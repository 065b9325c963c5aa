import { AppError } from '@countersign/contracts';
import type { Role } from '@countersign/contracts/gateway';
import {
  anonymous,
  bearerToken,
  type Guard,
  type GuardRequest,
  type Guards,
  type ParsedRequest,
} from '@countersign/service-kit';
import { recordDenial } from './audit/record-denial.ts';
import type { Context } from './context.ts';
import { authenticate, rotateIfDue } from './identity/authenticate.ts';
import type { StoredSession } from './store/sessions.ts';
import { findMembership, type Membership } from './store/workspaces.ts';
import { addressedWorkspace } from './workspaces/addressed-workspace.ts';
import { hasRole } from './workspaces/role.ts';

/** A person, proven by a session. */
export type SessionCaller = {
  session: StoredSession;
  /** The token of the session's successor, for one of the requests that come with an old session; null for all others. */
  rotateIfDue(): Promise<string | null>;
};
/** A person in a workspace, in the role that the route asks for or a higher one. */
export type WorkspaceCaller = SessionCaller & Membership;

/** Who may call which class of route. */
export function createGuards(context: Context): Guards<SessionCaller | WorkspaceCaller | undefined> {
  return {
    public: anonymous,
    session: (request) => sessionCaller(context, request),
    member: workspaceGuard(context, 'member'),
    partner: workspaceGuard(context, 'partner'),
    owner: workspaceGuard(context, 'owner'),
  };
}

/** A key of one workspace must not answer for another, although both requests look alike. */
export function callerKey(caller: unknown): string | null {
  if (typeof caller !== 'object' || caller === null || !('session' in caller)) return null;
  const { session } = caller as SessionCaller; // the guards above put nothing else there
  return 'workspaceId' in caller ? `${session.user.id} ${String(caller.workspaceId)}` : session.user.id;
}

/** One text for everything that is absent or somebody else's. */
export function notFound(): AppError {
  return new AppError('NOT_FOUND', 'There is no such object');
}

async function sessionCaller(context: Context, { req }: GuardRequest): Promise<SessionCaller> {
  const session = await authenticate(context, bearerToken(req));
  return { session, rotateIfDue: () => rotateIfDue(context, session) };
}

function workspaceGuard(context: Context, least: Role): Guard<WorkspaceCaller, SessionCaller> {
  return {
    authenticate: (request) => sessionCaller(context, request),
    authorize: async (caller, request) => {
      const membership = await membershipOf(context, caller.session, request);
      if (hasRole(membership.role, least)) return { ...caller, ...membership };
      await recordDenial(context, denialOf({ ...caller, ...membership }, request));
      throw roleTooLow(least, membership.role);
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
      : await findMembership(context.database.reader, addressed.workspaceId, session.user.id);
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

function denialOf({ workspaceId, session, role }: WorkspaceCaller, { route, requestId }: ParsedRequest) {
  return { workspaceId, action: route.operation, actor: session.user.id, details: { role }, requestId };
}

function roleTooLow(needed: Role, role: Role): AppError {
  return new AppError('PERMISSION_DENIED', `This needs the role ${needed}`, { details: { needed, role } });
}
