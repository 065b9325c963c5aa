import { z } from 'zod';
import { EmailAddress } from '../email-address.ts';
import { OrgId } from '../governance-kernel/tenants.ts';
import { page } from '../list.ts';
import { PersonRole } from '../person-assertion.ts';
import { defineRoute } from '../route.ts';
import { Instant, storableText, UserId, WorkspaceId } from '../scalars.ts';
import { OfWorkspace } from './workspace-path.ts';

/** A workspace of the gateway, which is one tenant of the kernel, as its members see it. */
export const ConsoleWorkspace = z.strictObject({
  workspace_id: WorkspaceId,
  name: z.string(),
  /** The organisation of the workspace; `null` when it has none yet. */
  org_id: OrgId.nullable(),
  /** The caller's role in the workspace. */
  role: PersonRole,
});
export type ConsoleWorkspace = z.infer<typeof ConsoleWorkspace>;

/** Evidence of a workspace that its owners have published and that has not expired. */
export const PublicProof = z.enum(['off', 'published']);
export type PublicProof = z.infer<typeof PublicProof>;

export const WorkspaceMember = z.strictObject({
  user_id: UserId,
  name: z.string(),
  email: z.string().nullable(),
  role: PersonRole,
  joined_at: Instant,
});

export const ConsoleWorkspaceWithMembers = ConsoleWorkspace.extend({
  members: z.array(WorkspaceMember),
  public_proof: PublicProof,
  created_at: Instant,
});
export type ConsoleWorkspaceWithMembers = z.infer<typeof ConsoleWorkspaceWithMembers>;

export const GivenName = storableText({ max: 200 }).trim().min(1);

export const listConsoleWorkspaces = defineRoute({
  operation: 'list-console-workspaces',
  summary: 'List the workspaces of the person, in the order of joining.',
  method: 'GET',
  path: '/api/workspaces',
  auth: 'session',
  forward: {},
  reply: page(ConsoleWorkspace),
  errors: ['GATEWAY_UNAVAILABLE'],
});

export const createConsoleWorkspace = defineRoute({
  operation: 'create-console-workspace',
  summary: 'Create a workspace in the organisation that the person administers. The person becomes its owner.',
  method: 'POST',
  path: '/api/v1/workspaces',
  auth: 'session',
  forward: {},
  idempotency: 'key',
  status: 201,
  body: z.strictObject({ name: GivenName }),
  reply: ConsoleWorkspace,
  errors: ['PERMISSION_DENIED', 'LIMIT_REACHED', 'RATE_LIMITED', 'GATEWAY_UNAVAILABLE', 'GOVERNANCE_UNAVAILABLE'],
});

export const getConsoleWorkspace = defineRoute({
  operation: 'get-console-workspace',
  summary: 'Get a workspace with its members, and the ETag for updates.',
  method: 'GET',
  path: '/api/v1/workspaces/{id}',
  auth: 'session',
  forward: {},
  leastRole: 'member',
  right: 'workspace.read',
  keyScopes: ['basic:read'],
  params: OfWorkspace,
  reply: ConsoleWorkspaceWithMembers,
  errors: ['GATEWAY_UNAVAILABLE'],
});

const Addressed = z.strictObject({ workspace_id: OfWorkspace.shape.id });
const AddressedMember = Addressed.extend({ user_id: z.string().min(1).max(128) });

export const putConsoleWorkspace = defineRoute({
  operation: 'put-console-workspace',
  summary:
    'Rename a workspace, and allow or block public access to its published evidence. Requires If-Match with the ' +
    'current ETag.',
  method: 'PUT',
  path: '/api/workspaces/{workspace_id}',
  auth: 'session',
  forward: {},
  idempotency: { exempt: 'precondition' },
  needsPresence: true,
  leastRole: 'owner',
  right: 'workspace.manage',
  params: Addressed,
  body: z.strictObject({ name: GivenName, public_proof: PublicProof.optional() }),
  reply: ConsoleWorkspaceWithMembers,
  errors: ['PRECONDITION_REQUIRED', 'PRECONDITION_FAILED', 'GATEWAY_UNAVAILABLE'],
});

export const createConsoleMember = defineRoute({
  operation: 'create-console-member',
  summary:
    'Invite an email address. The membership begins when the invite is accepted. The link is returned only once.',
  method: 'POST',
  path: '/api/workspaces/{workspace_id}/members',
  auth: 'session',
  forward: {},
  idempotency: { exempt: 'secret' },
  needsPresence: true,
  leastRole: 'owner',
  right: 'member.manage',
  status: 201,
  params: Addressed,
  body: z.strictObject({ email: EmailAddress, role: PersonRole.exclude(['owner']).default('member') }),
  reply: z.strictObject({
    invite_url: z.string(),
    role: PersonRole.exclude(['owner']),
    /** `false` when no mail was sent. Send the link yourself in this case. */
    mailed: z.boolean(),
  }),
  errors: ['ALREADY_EXISTS', 'RATE_LIMITED', 'GATEWAY_UNAVAILABLE', 'POLICY_DENIED', 'APPROVAL_NEEDED'],
});

export const putConsoleMember = defineRoute({
  operation: 'put-console-member',
  summary: 'Change the role of a member. The last owner cannot be changed.',
  method: 'PUT',
  path: '/api/workspaces/{workspace_id}/members/{user_id}',
  auth: 'session',
  forward: {},
  idempotency: { exempt: 'repeatable' },
  needsPresence: true,
  leastRole: 'owner',
  right: 'member.manage',
  params: AddressedMember,
  body: z.strictObject({ role: PersonRole }),
  reply: z.strictObject({ user_id: UserId, role: PersonRole }),
  errors: ['LAST_OWNER', 'PRECONDITION_FAILED', 'GATEWAY_UNAVAILABLE', 'POLICY_DENIED', 'APPROVAL_NEEDED'],
});

export const deleteConsoleMember = defineRoute({
  operation: 'delete-console-member',
  summary: 'Remove a member. It takes effect on the next request. The last owner cannot be removed.',
  method: 'DELETE',
  path: '/api/workspaces/{workspace_id}/members/{user_id}',
  auth: 'session',
  forward: {},
  idempotency: { exempt: 'repeatable' },
  needsPresence: true,
  leastRole: 'owner',
  right: 'member.manage',
  params: AddressedMember,
  reply: z.strictObject({
    /** Always `true`: after this answer, the person is not a member. */
    removed: z.literal(true),
  }),
  errors: ['LAST_OWNER', 'GATEWAY_UNAVAILABLE'],
});
