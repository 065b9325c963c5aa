import { z } from 'zod';
import { OrgId } from '../governance-kernel/tenants.ts';
import { defineRoute } from '../route.ts';
import { WorkspaceId } from '../scalars.ts';
import { GivenName } from './workspaces.ts';

const Org = z.strictObject({ org_id: OrgId, name: z.string() });

/**
 * The steps of the setup. They are an organisation, a budget at the kernel, a passkey, and a decision whose receipt
 * verifies. A colleague who joined or is invited and a policy of the workspace complete it.
 */
export const SetupStep = z.enum(['org', 'budget', 'passkey', 'first_receipt', 'colleague', 'policy']);
export type SetupStep = z.infer<typeof SetupStep>;

export const bootstrapOrg = defineRoute({
  operation: 'bootstrap-org',
  summary:
    "Make the person's organisation, with the workspace that they own already or a new one, and its default budget. It happens once: " +
    'repeated, it finishes what was left undone and answers what stands.',
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
  summary: 'The finished steps of the setup of a workspace, computed from its current state.',
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
