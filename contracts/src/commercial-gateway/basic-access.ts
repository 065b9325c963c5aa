import { z } from 'zod';
import { ApiKeyEnvironment } from '../api-key-terms.ts';
import {
  ConsoleWorkspace,
  createConsoleMember,
  createConsoleWorkspace,
  getConsoleWorkspace,
  GivenName,
  listConsoleWorkspaces,
  WorkspaceMember,
} from '../control-plane/workspaces.ts';
import { ApiKeyRole, ApiKeyScopes, createApiKey, listApiKeys, revokeApiKey } from '../gateway/api-keys.ts';
import { OrgId } from '../governance-kernel/tenants.ts';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { ApiKeyId, Instant, ProjectId, storableText, UserId, WorkspaceId } from '../scalars.ts';
import { gatesOf, shapeOf } from './second-door.ts';

export const basicLimits = {
  projectsPerOrg: 500,
  workspacesPerProject: 200,
} as const;

export const getBasicHealth = defineRoute({
  operation: 'get-basic-health',
  summary:
    'Get the health of the basic API, its database and its queue. Returns 503 when the database does not answer.',
  method: 'GET',
  path: '/api/basic/health',
  auth: 'public',
  forward: {},
  alsoStatus: [503],
  reply: z.strictObject({
    status: z.enum(['ok', 'degraded', 'unavailable']),
    service: z.literal('commercial-gateway'),
    version: z.string(),
  }),
});

const BasicWorkspace = ConsoleWorkspace.extend({
  /** Projects that contain the workspace. */
  project_ids: z.array(ProjectId),
});

export const listBasicWorkspaces = defineRoute({
  operation: 'list-basic-workspaces',
  summary: 'List the workspaces of the person, as in the console. An API key lists only its own workspace.',
  method: 'GET',
  path: '/api/basic/workspaces',
  auth: 'commercial',
  forward: {},
  alsoCalls: [listConsoleWorkspaces.operation, getConsoleWorkspace.operation],
  keyScopes: ['basic:read'],
  query: z.strictObject({ project_id: ProjectId.optional() }),
  reply: page(BasicWorkspace),
  errors: ['GATEWAY_UNAVAILABLE'],
});

export const createBasicWorkspace = defineRoute({
  ...gatesOf(createConsoleWorkspace),
  operation: 'create-basic-workspace',
  summary: 'Create a workspace, as in the console. `project_id` adds it to a project of the same organisation.',
  method: 'POST',
  idempotency: 'key',
  path: '/api/basic/workspaces',
  body: z.strictObject({ name: GivenName, project_id: ProjectId.optional() }),
  reply: BasicWorkspace,
});

const Project = z.strictObject({
  project_id: ProjectId,
  org_id: OrgId,
  name: z.string(),
  /** In the order of their ids. An API key sees its own workspace alone. */
  workspace_ids: z.array(WorkspaceId),
  created_by: UserId,
  created_at: Instant,
});
export type Project = z.infer<typeof Project>;

export const listProjects = defineRoute({
  operation: 'list-projects',
  summary:
    'List the projects of an organisation that the person administers, newest first. An API key lists the ' +
    'projects that contain its workspace.',
  method: 'GET',
  path: '/api/basic/projects',
  auth: 'commercial',
  forward: {},
  keyScopes: ['basic:read'],
  query: z.strictObject({
    ...PageQuery,
    /** Required for people. Keys omit it. */
    org_id: OrgId.optional(),
  }),
  reply: page(Project),
  errors: ['NOT_FOUND', 'INVALID_REQUEST'],
});

export const createProject = defineRoute({
  operation: 'create-project',
  summary: 'Create a project that groups workspaces of an organisation. Its name must be unique in the organisation.',
  method: 'POST',
  idempotency: { exempt: 'named' },
  path: '/api/basic/projects',
  auth: 'commercial',
  forward: {},
  status: 201,
  bodyBytesMax: 20_000,
  body: z.strictObject({
    org_id: OrgId,
    name: storableText({ min: 1, max: 200 }).trim().min(1),
    workspace_ids: z
      .array(WorkspaceId)
      .max(basicLimits.workspacesPerProject)
      .refine((ids) => new Set(ids).size === ids.length, 'must name a workspace once')
      .default([]),
  }),
  reply: Project,
  errors: ['NOT_FOUND', 'ALREADY_EXISTS', 'RATE_LIMITED'],
});

const Environment = z.strictObject({
  workspace_id: WorkspaceId,
  environment: ApiKeyEnvironment,
  description: z.string(),
  /** Matches the principals of all keys of the environment in rules, budgets and fences. */
  principals: z.string(),
  created_by: UserId,
  created_at: Instant,
});
export type Environment = z.infer<typeof Environment>;

export const listEnvironments = defineRoute({
  operation: 'list-environments',
  summary: 'List the environments of the workspace.',
  method: 'GET',
  path: '/api/basic/environments',
  auth: 'commercial',
  forward: {},
  leastRole: 'member',
  right: 'workspace.read',
  keyScopes: ['basic:read'],
  reply: page(Environment),
});

export const createEnvironment = defineRoute({
  operation: 'create-environment',
  summary: 'Create an environment of the workspace. API keys can then be created for it through the basic API.',
  method: 'POST',
  idempotency: { exempt: 'named' },
  path: '/api/basic/environments',
  auth: 'commercial',
  forward: {},
  leastRole: 'owner',
  right: 'settings.manage',
  status: 201,
  body: z.strictObject({ environment: ApiKeyEnvironment, description: storableText({ max: 500 }).default('') }),
  reply: Environment,
  errors: ['NOT_FOUND', 'ALREADY_EXISTS'],
});

export const listBasicMembers = defineRoute({
  ...gatesOf(getConsoleWorkspace),
  operation: 'list-basic-members',
  summary: 'List the members of the workspace, as in the console.',
  method: 'GET',
  path: '/api/basic/members',
  reply: page(WorkspaceMember),
});

export const createBasicMember = defineRoute({
  ...gatesOf(createConsoleMember),
  operation: 'create-basic-member',
  summary: 'Invite an email address, as in the console. The link is returned only once.',
  method: 'POST',
  idempotency: { exempt: 'secret' },
  path: '/api/basic/members',
  body: shapeOf(createConsoleMember.body),
  reply: createConsoleMember.reply,
});

const BasicKey = z.strictObject({
  key_id: ApiKeyId,
  workspace_id: WorkspaceId,
  name: z.string(),
  /** The beginning of the secret. */
  prefix: z.string(),
  role: ApiKeyRole,
  scopes: ApiKeyScopes,
  /** `null` when the key is for the whole workspace. */
  environment: ApiKeyEnvironment.nullable(),
  created_by: UserId,
  created_at: Instant,
  expires_at: Instant,
  /** `null` when it was never used. */
  last_used_at: Instant.nullable(),
  /** `null` when it is not revoked. */
  revoked_at: Instant.nullable(),
});
export type BasicKey = z.infer<typeof BasicKey>;

export const listBasicKeys = defineRoute({
  ...gatesOf(listApiKeys),
  operation: 'list-basic-keys',
  summary: "List the person's own API keys of the workspace, newest first. Owners see all keys.",
  method: 'GET',
  path: '/api/basic/keys',
  query: z.strictObject(PageQuery),
  reply: page(BasicKey),
});

export const createBasicKey = defineRoute({
  ...gatesOf(createApiKey),
  operation: 'create-basic-key',
  summary: 'Create an API key for the workspace. The secret is returned only once.',
  method: 'POST',
  idempotency: { exempt: 'secret' },
  path: '/api/basic/keys',
  body: z.strictObject({
    name: storableText({ min: 1, max: 100 }),
    role: ApiKeyRole.default('member'),
    scopes: ApiKeyScopes.default(['basic:read']),
    /** An existing environment. Absent: the key is for the whole workspace. */
    environment: ApiKeyEnvironment.optional(),
    expires_in_days: z.int().min(1).max(365).default(90),
    /** The key that the new key replaces. The replaced key works for one more day at most. */
    replaces: ApiKeyId.optional(),
  }),
  reply: BasicKey.extend({
    /** The secret key. It is returned only once. */
    key: z.string(),
  }),
});

export const revokeBasicKey = defineRoute({
  ...gatesOf(revokeApiKey),
  operation: 'revoke-basic-key',
  summary: "Revoke one of the person's own API keys immediately. Owners can revoke any key.",
  method: 'DELETE',
  idempotency: { exempt: 'repeatable' },
  path: '/api/basic/keys/{key_id}',
  params: z.strictObject({ key_id: z.string().min(1).max(128) }),
  reply: z.strictObject({ revoked: z.literal(true) }),
});
