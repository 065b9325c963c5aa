import { z } from 'zod';
import { EmailAddress } from '../email-address.ts';
import { camelPage, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { InviteId, Instant, UserId, WorkspaceId } from '../scalars.ts';
import { User } from './identity.ts';
import { Done, PathId, Role, WorkspaceBody, WorkspaceQuery } from './workspaces.ts';

export const getMe = defineRoute({
  operation: 'get-me',
  summary: 'Get the signed-in person and their workspaces.',
  method: 'GET',
  path: '/api/me',
  auth: 'session',
  reply: z.strictObject({
    user: User,
    workspaces: z.array(z.strictObject({ id: WorkspaceId, name: z.string(), role: Role })),
  }),
});

/**
 * The errors of changes that create owners or partners. Owners and partners decide approvals, so the kernel first
 * decides such a change.
 */
const decidersErrors = ['POLICY_DENIED', 'APPROVAL_NEEDED', 'GOVERNANCE_UNAVAILABLE'] as const;

/** Invites cannot grant the owner role. An owner promotes a member instead. */
export const InvitedRole = Role.exclude(['owner']);
export type InvitedRole = z.infer<typeof InvitedRole>;

export const createInvite = defineRoute({
  operation: 'create-invite',
  summary:
    'Invite an email address, and end its earlier invite. The token is returned only once. To invite a partner, ' +
    'the kernel must first allow `policy.change` on `members/invite?role=partner`.',
  method: 'POST',
  path: '/api/workspace/{id}/invite',
  auth: 'owner',
  right: 'member.manage',
  idempotency: { exempt: 'secret' },
  needsPresence: true,
  status: 201,
  params: PathId,
  query: z.strictObject(WorkspaceQuery),
  body: z.strictObject({ ...WorkspaceBody, role: InvitedRole.default('member'), email: EmailAddress }),
  reply: z.strictObject({
    inviteUrl: z.string(),
    inviteToken: z.string(),
    role: InvitedRole,
    expiresIn: z.literal('7 days'),
    /** `false` when no mail was sent: without a mail provider, or after its refusal. Send the link yourself. */
    mailed: z.boolean(),
  }),
  errors: [
    'NOT_FOUND',
    'PERMISSION_DENIED',
    'ALREADY_EXISTS',
    'RATE_LIMITED',
    'WORKSPACE_CONTEXT_CONFLICT',
    ...decidersErrors,
  ],
});

export const Invite = z.strictObject({
  id: InviteId,
  email: z.string(),
  role: InvitedRole,
  invitedBy: UserId,
  createdAt: Instant,
  expiresAt: Instant,
  /** `accepted`: the address is not verified with a code yet. */
  state: z.enum(['open', 'accepted']),
});
export type Invite = z.infer<typeof Invite>;

export const listInvites = defineRoute({
  operation: 'list-invites',
  summary: 'List the invites that can still be used, newest first.',
  method: 'GET',
  path: '/api/workspace/{id}/invites',
  auth: 'owner',
  right: 'member.manage',
  params: PathId,
  query: z.strictObject({ ...WorkspaceQuery, ...PageQuery }),
  reply: camelPage(Invite),
  errors: ['NOT_FOUND', 'PERMISSION_DENIED', 'WORKSPACE_CONTEXT_CONFLICT'],
});

export const revokeInvite = defineRoute({
  operation: 'revoke-invite',
  summary: 'Revoke an invite immediately.',
  method: 'DELETE',
  path: '/api/workspace/{id}/invites/{inviteId}',
  auth: 'owner',
  right: 'member.manage',
  idempotency: { exempt: 'repeatable' },
  params: PathId.extend({ inviteId: z.string().min(1).max(128) }),
  query: z.strictObject(WorkspaceQuery),
  reply: Done,
  errors: ['NOT_FOUND', 'PERMISSION_DENIED', 'WORKSPACE_CONTEXT_CONFLICT'],
});

const InvitePath = z.strictObject({ token: z.string().min(1).max(128) });

export const showInvite = defineRoute({
  operation: 'show-invite',
  summary: 'Show the page that explains how to accept an invite. It is the same for all tokens.',
  method: 'GET',
  path: '/invite/{token}',
  auth: 'public',
  media: 'html',
  params: InvitePath,
  reply: z.string(),
});

export const InviteToMe = z.strictObject({
  id: InviteId,
  workspace: z.string(),
  /** The email address of the inviting person, or their name when they have no address. */
  from: z.string(),
  role: InvitedRole,
  createdAt: Instant,
  expiresAt: Instant,
});
export type InviteToMe = z.infer<typeof InviteToMe>;

export const listInvitesToMe = defineRoute({
  operation: 'list-invites-to-me',
  summary: "List the open invites to the signed-in person's address, newest first.",
  method: 'GET',
  path: '/api/me/invites',
  auth: 'session',
  reply: z.strictObject({ data: z.array(InviteToMe) }),
});

export const joinByInvite = defineRoute({
  operation: 'join-by-invite',
  summary: "Accept an open invite to the signed-in person's address, and join its workspace.",
  method: 'POST',
  path: '/api/me/invites/{inviteId}/accept',
  auth: 'session',
  idempotency: { exempt: 'single_use' },
  params: z.strictObject({ inviteId: z.string().min(1).max(128) }),
  reply: z.strictObject({ workspace: z.strictObject({ id: WorkspaceId, name: z.string() }), role: Role }),
  errors: ['LIMIT_REACHED', 'NOT_FOUND'],
});

export const acceptInvite = defineRoute({
  operation: 'accept-invite',
  summary:
    'Accept an invite. With a session of the invited address, the person joins immediately. Otherwise, the ' +
    'membership begins when they verify the emailed code.',
  method: 'POST',
  path: '/api/auth/invite/{token}',
  auth: 'public',
  idempotency: { exempt: 'repeatable' },
  bodyBytesMax: 10_000,
  params: InvitePath,
  body: z.strictObject({ email: EmailAddress }),
  reply: z.union([
    z.strictObject({
      accepted: z.literal(true),
      verificationRequired: z.literal(true),
      /** The code. Present only in development and without a mail provider. */
      code: z.string().optional(),
    }),
    z.strictObject({
      accepted: z.literal(true),
      verificationRequired: z.literal(false),
      workspace: z.strictObject({ id: WorkspaceId, name: z.string() }),
      role: Role,
    }),
  ]),
  errors: ['LIMIT_REACHED', 'NOT_FOUND', 'CREDENTIALS_INVALID', 'RATE_LIMITED', 'MAIL_UNAVAILABLE', 'SSO_REQUIRED'],
});

const PathMember = PathId.extend({ userId: z.string().min(1).max(128) });

export const putMemberRole = defineRoute({
  operation: 'put-member-role',
  summary:
    'Change the role of a member. The last owner cannot be changed. For owner or partner, the kernel must first ' +
    'allow `policy.change` on `members/<user>?role=<role>`.',
  method: 'PUT',
  path: '/api/workspace/{id}/members/{userId}',
  auth: 'owner',
  right: 'member.manage',
  idempotency: { exempt: 'repeatable' },
  needsPresence: true,
  params: PathMember,
  query: z.strictObject(WorkspaceQuery),
  body: z.strictObject({ ...WorkspaceBody, role: Role }),
  reply: z.strictObject({ userId: UserId, role: Role }),
  errors: [
    'NOT_FOUND',
    'PERMISSION_DENIED',
    'PRECONDITION_FAILED',
    'LAST_OWNER',
    'WORKSPACE_CONTEXT_CONFLICT',
    ...decidersErrors,
  ],
});

export const removeMember = defineRoute({
  operation: 'remove-member',
  summary: 'Remove a member. It takes effect on the next request. The last owner cannot be removed.',
  method: 'DELETE',
  path: '/api/workspace/{id}/members/{userId}',
  auth: 'owner',
  right: 'member.manage',
  idempotency: { exempt: 'repeatable' },
  needsPresence: true,
  params: PathMember,
  query: z.strictObject(WorkspaceQuery),
  reply: Done,
  errors: ['NOT_FOUND', 'PERMISSION_DENIED', 'LAST_OWNER', 'WORKSPACE_CONTEXT_CONFLICT'],
});

export const leaveWorkspace = defineRoute({
  operation: 'leave-workspace',
  summary: 'Leave a workspace. The last owner cannot leave.',
  method: 'DELETE',
  path: '/api/workspace/{id}/membership',
  auth: 'member',
  right: 'workspace.leave',
  idempotency: { exempt: 'repeatable' },
  sessionOnly: true,
  params: PathId,
  query: z.strictObject(WorkspaceQuery),
  reply: Done,
  errors: ['NOT_FOUND', 'LAST_OWNER', 'WORKSPACE_CONTEXT_CONFLICT'],
});
