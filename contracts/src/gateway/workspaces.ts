import { z } from 'zod';
import { BlockedTools } from '../governance-kernel/tool-blocks.ts';
import { PersonRole } from '../person-assertion.ts';
import { defineRoute } from '../route.ts';
import { Currency, Instant, storableText, UserId, WorkspaceId } from '../scalars.ts';

export const Role = PersonRole;
export type Role = PersonRole;

export const WorkspaceMode = z.enum(['discover', 'decide', 'build', 'launch', 'apply']);
export type WorkspaceMode = z.infer<typeof WorkspaceMode>;

/** Accepts any text, so that an impossible id gets the same 404 as an unknown one. */
export const PathId = z.strictObject({ id: z.string().min(1).max(128) });
export const WorkspaceQuery = { workspaceId: z.string().min(1).max(128).optional() };
export const WorkspaceBody = { workspaceId: z.string().min(1).max(128).optional() };

/** The answer of a route that has nothing to return. */
export const Done = z.strictObject({ ok: z.literal(true) });

export const Workspace = z.strictObject({
  id: WorkspaceId,
  name: z.string(),
  mode: WorkspaceMode,
  members: z.array(
    z.strictObject({ userId: UserId, name: z.string(), email: z.string().nullable(), role: Role, joinedAt: Instant }),
  ),
  createdAt: Instant,
  updatedAt: Instant,
});
export type Workspace = z.infer<typeof Workspace>;

export const getWorkspace = defineRoute({
  operation: 'get-workspace',
  summary: 'Get a workspace with its members, and the ETag for updates.',
  method: 'GET',
  path: '/api/workspace/{id}',
  auth: 'member',
  right: 'workspace.read',
  keyScopes: ['read', 'basic:read'],
  params: PathId,
  query: z.strictObject(WorkspaceQuery),
  reply: Workspace,
  errors: ['NOT_FOUND', 'WORKSPACE_CONTEXT_CONFLICT'],
});

const WorkspaceName = storableText({ max: 200 }).trim().min(1);

export const openWorkspace = defineRoute({
  operation: 'open-workspace',
  summary: 'Create a workspace that the person owns. The installation may limit who can create workspaces.',
  method: 'POST',
  path: '/api/workspace',
  auth: 'session',
  idempotency: 'key',
  status: 201,
  body: z.strictObject({ name: WorkspaceName.optional() }),
  reply: z.strictObject({ id: WorkspaceId, name: z.string(), role: Role }),
  errors: ['PERMISSION_DENIED', 'RATE_LIMITED'],
});

export const putWorkspace = defineRoute({
  operation: 'put-workspace',
  summary: 'Rename a workspace. If-Match is optional.',
  method: 'PUT',
  path: '/api/workspace/{id}',
  auth: 'owner',
  right: 'workspace.manage',
  idempotency: { exempt: 'repeatable' },
  needsPresence: true,
  params: PathId,
  query: z.strictObject(WorkspaceQuery),
  body: z.strictObject({ ...WorkspaceBody, name: WorkspaceName }),
  reply: Workspace,
  errors: ['NOT_FOUND', 'PERMISSION_DENIED', 'PRECONDITION_FAILED', 'WORKSPACE_CONTEXT_CONFLICT'],
});

export const applyWorkspaceSettings = defineRoute({
  operation: 'apply-workspace-settings',
  summary:
    'Apply the blocked tools and the budget of a workspace at the kernel now. The first governed call does the same.',
  method: 'PUT',
  path: '/api/workspace/{id}/settings/applied',
  auth: 'owner',
  right: 'settings.manage',
  idempotency: { exempt: 'repeatable' },
  params: PathId,
  query: z.strictObject(WorkspaceQuery),
  reply: Done,
  errors: ['NOT_FOUND', 'PERMISSION_DENIED', 'GOVERNANCE_UNAVAILABLE', 'WORKSPACE_CONTEXT_CONFLICT'],
});

const wholeMinorUnits = (amount: number) => Math.abs(amount * 100 - Math.round(amount * 100)) < 1e-6;

/** A section in the request replaces the stored section. Omitted members get these defaults. */
export const PolicyConfig = z.strictObject({
  maxIterationBudget: z.int().min(1).max(100).default(25),
  blockedTools: BlockedTools.default([]),
  /**
   * The effect of a denied tool call on its run. `end`: the run ends as denied. `tell`: the model receives the reason
   * and may continue, if another call could be allowed. A stop, an exhausted budget or a denied approval still ends the
   * run. A denial because of unreadable facts (`REGISTRY_UNAVAILABLE`) is always returned to the model.
   */
  deniedCall: z.enum(['end', 'tell']).default('end'),
});
export const BudgetConfig = z.strictObject({
  monthlyLlmBudget: z
    .number()
    .min(0)
    .max(1_000_000_000)
    .refine(wholeMinorUnits, 'must have at most two decimals')
    .default(100),
  currency: Currency.default('USD'),
});
export const ModelConfig = z.strictObject({
  /** The provider of the model. Unless the provider is `default`, the model is requested as `provider/model`. */
  provider: storableText({ min: 1, max: 64 }).default('default'),
  model: storableText({ min: 1, max: 256 }).default('default'),
  temperature: z.number().min(0).max(2).default(0.7),
});
export const WorkspaceSettings = z.strictObject({
  policyConfig: PolicyConfig,
  budgetConfig: BudgetConfig,
  modelConfig: ModelConfig,
});
export type WorkspaceSettings = z.infer<typeof WorkspaceSettings>;

export const getWorkspaceSettings = defineRoute({
  operation: 'get-workspace-settings',
  summary: 'Get the policy, budget and model settings of a workspace, with their ETag.',
  method: 'GET',
  path: '/api/workspace/{id}/settings',
  auth: 'member',
  right: 'settings.read',
  params: PathId,
  query: z.strictObject(WorkspaceQuery),
  reply: WorkspaceSettings,
  errors: ['NOT_FOUND', 'WORKSPACE_CONTEXT_CONFLICT'],
});

export const putWorkspaceSettings = defineRoute({
  operation: 'put-workspace-settings',
  summary: 'Replace the sections of the settings that are sent, and keep the others. If-Match is optional.',
  method: 'PUT',
  path: '/api/workspace/{id}/settings',
  auth: 'owner',
  right: 'settings.manage',
  needsPresence: true,
  idempotency: { exempt: 'repeatable' },
  params: PathId,
  query: z.strictObject(WorkspaceQuery),
  body: z.strictObject({
    ...WorkspaceBody,
    policyConfig: PolicyConfig.optional(),
    budgetConfig: BudgetConfig.optional(),
    modelConfig: ModelConfig.optional(),
  }),
  reply: WorkspaceSettings,
  errors: ['NOT_FOUND', 'PERMISSION_DENIED', 'PRECONDITION_FAILED', 'WORKSPACE_CONTEXT_CONFLICT'],
});

export const putWorkspaceMode = defineRoute({
  operation: 'put-workspace-mode',
  summary: 'Set the mode of a workspace to one of the five modes.',
  method: 'PUT',
  path: '/api/workspace/{id}/mode',
  auth: 'owner',
  right: 'workspace.manage',
  needsPresence: true,
  idempotency: { exempt: 'repeatable' },
  params: PathId,
  query: z.strictObject(WorkspaceQuery),
  body: z.strictObject({ ...WorkspaceBody, mode: WorkspaceMode }),
  reply: z.strictObject({ id: WorkspaceId, mode: WorkspaceMode }),
  errors: ['NOT_FOUND', 'PERMISSION_DENIED', 'WORKSPACE_CONTEXT_CONFLICT'],
});

export const listModes = defineRoute({
  operation: 'list-modes',
  summary: 'List the five modes of a workspace.',
  method: 'GET',
  path: '/api/product/modes',
  auth: 'public',
  reply: z.strictObject({
    modes: z.array(
      z.strictObject({ id: WorkspaceMode, label: z.string(), description: z.string(), order: z.int().min(1) }),
    ),
  }),
});
