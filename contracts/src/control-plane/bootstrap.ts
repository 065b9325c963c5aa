import { z } from 'zod';
import { OrgId } from '../governance-kernel/tenants.ts';
import { defineRoute } from '../route.ts';
import { WorkspaceId } from '../scalars.ts';
import { GivenName } from './workspaces.ts';

const Org = z.strictObject({ org_id: OrgId, name: z.string() });

/**
 * The steps of the setup: an organisation, a budget at the kernel, a passkey, and a decision whose receipt verifies.
 * The last steps are an invited or joined colleague and a policy of the workspace.
 */
export const SetupStep = z.enum(['org', 'budget', 'passkey', 'first_receipt', 'colleague', 'policy']);
export type SetupStep = z.infer<typeof SetupStep>;

export const bootstrapOrg = defineRoute({
  operation: 'bootstrap-org',
  summary:
    "Create the person's organisation with a workspace and a default budget. A repeated request completes missing " +
    'steps and returns the current state.',
  method: 'POST',
  path: '/api/bootstrap',
  auth: 'session',
  forward: {},
  idempotency: { exempt: 'repeatable' },
  status: 201,
  body: z.strictObject({ name: GivenName }),
  reply: Org.extend({ workspace_id: WorkspaceId }),
  errors: ['PERMISSION_DENIED', 'ALREADY_EXISTS', 'RATE_LIMITED', 'GATEWAY_UNAVAILABLE', 'GOVERNANCE_UNAVAILABLE'],
});

export const getBootstrap = defineRoute({
  operation: 'get-bootstrap',
  summary: 'List the finished setup steps of a workspace, computed from its current state.',
  method: 'GET',
  path: '/api/bootstrap',
  auth: 'session',
  forward: {},
  leastRole: 'owner',
  right: 'workspace.manage',
  reply: z.strictObject({
    workspace_id: WorkspaceId,
    org: Org.nullable(),
    steps: z.array(z.strictObject({ step: SetupStep, done: z.boolean() })),
  }),
  errors: ['GATEWAY_UNAVAILABLE', 'GOVERNANCE_UNAVAILABLE'],
});
