import type { TenantId } from '@countersign/contracts';
import {
  approveServerAction,
  approveServerResource,
  readApproveServerResource,
} from '@countersign/contracts/governance-kernel';
import { z } from 'zod';
import type { ApprovalRow } from '../controls/approvals/approval-row.ts';
import { approvals } from '../controls/approvals/approvals.ts';
import { underPolicy } from '../controls/approvals/expire.ts';
import type { ApprovalKey } from '../controls/approvals/seal-move.ts';
import { registryPrincipal } from '../controls/identities/kernel-name.ts';
import type { AskedRequest } from '../doors/server-registry/registry-desk.ts';
import type { GivenQuery } from '../doors/server-registry/request-approval.ts';
import type { Reader } from './database.ts';
import { findActiveHash } from './policy-store.ts';
import { asStored } from './stored-row.ts';

/**
 * The newest open approval request for a server. `null` when there is none, or when a new policy or a revocation of
 * the server has ended it.
 */
export async function findServerRequest(
  reader: Reader,
  tenant: TenantId,
  { serverId, definitionsHash, now, revokedAtMs }: AskedRequest,
): Promise<ApprovalRow | null> {
  const row = await reader.approval.findFirst({
    where: {
      ...{ tenant_id: tenant, action: approveServerAction, expires_at: { gt: now }, requested_by: registryPrincipal },
      // The hash covers the server's name too, so this prefix matches no other server.
      resource: { startsWith: approveServerResource(serverId, definitionsHash) },
      state: { in: ['pending', 'approved'] },
      ...(revokedAtMs === null ? {} : { created_at: { gt: new Date(revokedAtMs) } }),
    },
    omit: { args_encrypted: true },
    orderBy: { approval_id: 'desc' },
  });
  if (row === null) return null;
  const found = underPolicy(
    approvals.rowOf(asStored({ ...row, args_encrypted: null })),
    await findActiveHash(reader, tenant),
  );
  return found.state === 'pending' || found.state === 'approved' ? found : null;
}

/** Open requests for the approval of any definitions of a server that were made up to `until`. */
export async function listOpenRequests(
  reader: Reader,
  tenant: TenantId,
  { serverId, until }: { serverId: string; until: Date },
): Promise<ApprovalKey[]> {
  const rows = await reader.approval.findMany({
    where: {
      ...{ tenant_id: tenant, action: approveServerAction, state: { in: ['pending', 'approved'] } },
      resource: { startsWith: approveServerResource(serverId, '') },
      created_at: { lte: until },
    },
    omit: { args_encrypted: true },
    orderBy: { approval_id: 'asc' },
  });
  return rows
    .map((row) => approvals.rowOf(asStored({ ...row, args_encrypted: null })))
    .filter(({ resource }) => readApproveServerResource(resource)?.serverId === serverId);
}

const Ids = z.array(z.object({ approval_id: z.string() }));

/** Unused approvals of servers, unordered. The limit prefers those that expire next in their tenant. */
export async function listGivenApprovals(
  reader: Reader,
  { now, requestedBy, except, ofTenant, limit }: GivenQuery,
): Promise<ApprovalRow[]> {
  const found = await reader.$queryRaw`
    SELECT approval_id FROM (
      SELECT approval_id, row_number() OVER (PARTITION BY tenant_id ORDER BY expires_at, approval_id) AS nth
        FROM approvals
       WHERE action = 'mcp.server.approve' AND state = 'approved' AND expires_at > ${now}
         AND requested_by = ${requestedBy} AND approval_id <> ALL(${[...except]}::text[])) AS given
     WHERE nth <= ${ofTenant}::int ORDER BY nth, approval_id LIMIT ${limit}::int`;
  const rows = await reader.approval.findMany({
    where: { approval_id: { in: Ids.parse(found).map(({ approval_id: id }) => id) } },
    omit: { args_encrypted: true },
  });
  return rows.map((row) => approvals.rowOf(asStored({ ...row, args_encrypted: null })));
}
