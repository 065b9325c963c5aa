import { z } from 'zod';
import { OrgId } from '../governance-kernel/tenants.ts';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { Instant, UserId, WorkspaceId } from '../scalars.ts';
import { OidcConnectionId } from './oidc.ts';

/** An organisation, for services that keep a copy of the directory. */
export const ListedOrg = z.strictObject({
  org_id: OrgId,
  name: z.string(),
  /** The person who created it. There is no other administrator. */
  admin_id: UserId,
  created_at: Instant,
});
export type ListedOrg = z.infer<typeof ListedOrg>;

/** A workspace with the organisation that owns it. */
export const ListedOrgWorkspace = z.strictObject({ workspace_id: WorkspaceId, org_id: OrgId, added_at: Instant });
export type ListedOrgWorkspace = z.infer<typeof ListedOrgWorkspace>;

export const listOrgs = defineRoute({
  operation: 'list-orgs',
  summary: 'List all organisations by id. Services read this list once and then follow the events of organisations.',
  method: 'GET',
  path: '/internal/orgs',
  auth: 'service_internal',
  query: z.strictObject(PageQuery),
  reply: page(ListedOrg),
});

export const listOrgWorkspaces = defineRoute({
  operation: 'list-org-workspaces',
  summary: 'List all workspaces that belong to an organisation, by id.',
  method: 'GET',
  path: '/internal/orgs/workspaces',
  auth: 'service_internal',
  query: z.strictObject(PageQuery),
  reply: page(ListedOrgWorkspace),
});

export const getOrgUse = defineRoute({
  operation: 'get-org-use',
  summary: 'Get the connectors and shadow lanes that count towards the plan of an organisation.',
  method: 'GET',
  path: '/internal/orgs/{org_id}/use',
  auth: 'service_internal',
  params: z.strictObject({ org_id: OrgId }),
  reply: z.strictObject({
    connectors: z.int().min(0),
    /** Lanes with a draft that is evaluated beside the active policy. */
    shadow_lanes: z.int().min(0),
  }),
});

export const getSsoReadiness = defineRoute({
  operation: 'get-sso-readiness',
  summary:
    'Get what an organisation needs before it can require sign-in through a connection without locking itself out.',
  method: 'GET',
  path: '/internal/orgs/{org_id}/sso',
  auth: 'service_internal',
  params: z.strictObject({ org_id: OrgId }),
  query: z.strictObject({ connection_id: OidcConnectionId }),
  reply: z.strictObject({
    /**
     * The mail domains whose addresses the connection can sign in for the first time. `null` when the connection does
     * not exist.
     */
    link_domains: z.array(z.string()).nullable(),
    /** Whether the administrator of the organisation has a passkey that has signed them in. */
    admin_has_passkey: z.boolean(),
  }),
  errors: ['NOT_FOUND'],
});
