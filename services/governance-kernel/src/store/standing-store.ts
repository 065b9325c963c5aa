import type { TenantId } from '@countersign/contracts';
import { countedMax, FenceScope } from '@countersign/contracts/governance-kernel';
import { z } from 'zod';
import type { Reader } from './database.ts';

const Counts = z.tuple([
  z.object({
    budgets: z.coerce.number(),
    pending_approvals: z.coerce.number(),
    open_dispatches: z.coerce.number(),
    quarantined_mcp_servers: z.coerce.number(),
    unapproved_tools: z.coerce.number(),
  }),
]);

/**
 * Counts the open items of a tenant. Each count stops at a limit and follows an index of the tenant's rows, so its cost
 * does not grow with the table. MCP servers are those of the installation and of the tenant.
 */
export async function countOpen(reader: Reader, tenant: TenantId, now: Date): Promise<z.infer<typeof Counts>[0]> {
  const rows = await reader.$queryRaw`
    SELECT
      (SELECT count(*) FROM (SELECT 1 FROM budgets WHERE tenant_id = ${tenant}
         ORDER BY tenant_id, budget_id LIMIT ${countedMax}) AS b) AS budgets,
      (SELECT count(*) FROM (SELECT 1 FROM approvals
         WHERE tenant_id = ${tenant} AND state = 'pending' AND expires_at > ${now}
         ORDER BY tenant_id, state, approval_id LIMIT ${countedMax}) AS a) AS pending_approvals,
      (SELECT count(*) FROM (SELECT 1 FROM dispatches WHERE tenant_id = ${tenant}
         ORDER BY tenant_id, ulid LIMIT ${countedMax}) AS d) AS open_dispatches,
      (SELECT count(*) FROM (SELECT 1 FROM mcp_servers
         WHERE state = 'quarantined' AND (tenant_id IS NULL OR tenant_id = ${tenant}) LIMIT ${countedMax}) AS m) AS quarantined_mcp_servers,
      (SELECT count(*) FROM (SELECT 1 FROM mcp_servers AS s JOIN mcp_tools AS t USING (server_id)
         WHERE s.state <> 'revoked' AND t.gone_at IS NULL
           AND (s.state = 'quarantined' OR t.pinned_hash IS DISTINCT FROM t.current_hash)
           AND (s.tenant_id = ${tenant}
                OR s.tenant_id IS NULL
                   AND NOT EXISTS (SELECT FROM mcp_servers o WHERE o.server_id = ${`${tenant}/`} || s.name))
         LIMIT ${countedMax}) AS u) AS unapproved_tools`;
  return Counts.parse(rows)[0];
}

const Scopes = z.array(z.object({ scope: FenceScope }));

/**
 * Scopes of current fences that affect the tenant: its own, its organisation's, its agents', its tools', and those of
 * all tenants.
 */
export async function listScopesAround(
  reader: Reader,
  tenant: TenantId,
  { now, limit }: { now: Date; limit: number },
): Promise<FenceScope[]> {
  const exact = ['system', `tenant:${tenant}`];
  const prefixes = [`agent:${tenant}/`, `tool:${tenant}/`, 'tool:*/', `server:${tenant}/`, 'server:'];
  // A range of the index for each prefix, which ends before the successor of the prefix. The scope of a fence on a
  // server for one tenant contains the tenant and a slash.
  const rows = await reader.$queryRaw`
    SELECT found.scope FROM (
        SELECT name, name || chr(1) FROM unnest(${exact}::text[]) AS name
         UNION ALL SELECT 'org:' || org_id, 'org:' || org_id || chr(1) FROM tenant_orgs WHERE tenant_id = ${tenant}
         UNION ALL SELECT prefix, left(prefix, -1) || chr(ascii(right(prefix, 1)) + 1) FROM unnest(${prefixes}::text[]) AS prefix
      ) AS wanted(first, after)
      CROSS JOIN LATERAL (
        SELECT scope FROM fences
         WHERE kind <> 'open' AND (expires_at IS NULL OR expires_at > ${now})
           AND scope COLLATE "C" >= wanted.first AND scope COLLATE "C" < wanted.after
           AND (wanted.first <> 'server:' OR strpos(scope, '/') = 0)
         ORDER BY scope COLLATE "C" LIMIT ${limit}
      ) AS found
     ORDER BY found.scope COLLATE "C" LIMIT ${limit}`;
  return Scopes.parse(rows).map(({ scope }) => scope);
}
