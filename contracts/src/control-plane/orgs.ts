import { z } from 'zod';
import { OrgId } from '../governance-kernel/tenants.ts';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { Instant, UserId, WorkspaceId } from '../scalars.ts';

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
  summary:
    'Every organisation, in the order of its id. Services read it once, and follow the events of organisations from then on.',
  method: 'GET',
  path: '/internal/orgs',
  auth: 'service_internal',
  query: z.strictObject(PageQuery),
  reply: page(ListedOrg),
});

export const listOrgWorkspaces = defineRoute({
  operation: 'list-org-workspaces',
  summary: 'Every workspace that an organisation owns, in the order of its id.',
  method: 'GET',
  path: '/internal/orgs/workspaces',
  auth: 'service_internal',
  query: z.strictObject(PageQuery),
  reply: page(ListedOrgWorkspace),
});
