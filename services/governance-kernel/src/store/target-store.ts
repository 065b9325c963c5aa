import type { TenantId } from '@countersign/contracts';
import { shownTargetsMax, type BoundaryTargets } from '@countersign/contracts/governance-kernel';
import { z } from 'zod';
import { toolAddress } from '../registry/tool-definition.ts';
import { boundaryTargets } from '../doors/status/boundary-targets.ts';
import type { Reader } from './database.ts';

const periodMs = 7 * 24 * 3_600_000;
/** Only the newest calls are counted. This many are read from one index within some tens of milliseconds. */
const callsMax = 20_000;
/** One more than an answer shows, to detect further names. */
const namesMax = shownTargetsMax + 1;

const principals = { select: { principal_id: true } } as const;

/** The agents, tools and servers that a stop of the tenant can name. */
export async function listTargets(reader: Reader, tenant: TenantId, now: Date): Promise<BoundaryTargets> {
  const since = new Date(now.getTime() - periodMs);
  const ofTenant = { tenant_id: tenant, kind: 'agent', revoked_at: null };
  const [identities, keys, servers, tools, counted] = await Promise.all([
    reader.identity.findMany({ where: ofTenant, ...principals, orderBy: { principal_id: 'asc' }, take: namesMax }),
    reader.accessKey.findMany({ where: ofTenant, ...principals, orderBy: { key_id: 'desc' }, take: namesMax }),
    listServerNames(reader, tenant),
    listToolNames(reader, tenant),
    countCalls(reader, tenant, since),
  ]);
  return boundaryTargets({
    agents: [...identities, ...keys].map(({ principal_id }) => principal_id),
    ...{ tools, servers, counted },
    areAllCounted: counted.reduce((sum, { calls }) => sum + calls, 0) < callsMax,
  });
}

const Names = z.array(z.object({ server_id: z.string(), tool_name: z.string() }));

/** The servers of the installation and of the tenant. */
async function listServerNames(reader: Reader, tenant: TenantId): Promise<string[]> {
  const where = { OR: [{ tenant_id: null }, { tenant_id: tenant }] };
  const rows = await reader.mcpServer.findMany({
    where,
    select: { name: true },
    distinct: ['name'],
    orderBy: { name: 'asc' },
    take: namesMax,
  });
  return rows.map(({ name }) => name);
}

/** The tools of the servers of the installation and of the tenant. */
async function listToolNames(reader: Reader, tenant: TenantId): Promise<string[]> {
  const rows = await reader.$queryRaw`
    SELECT s.name AS server_id, t.tool_name FROM mcp_tools t JOIN mcp_servers s USING (server_id)
     WHERE s.tenant_id IS NULL OR s.tenant_id = ${tenant} ORDER BY s.name, t.tool_name LIMIT ${namesMax}::int`;
  return Names.parse(rows).map(({ server_id: serverId, tool_name: toolName }) => toolAddress({ serverId, toolName }));
}

const Counted = z.array(z.object({ principal: z.string(), tool: z.string().nullable(), calls: z.int() }));

/** The newest calls by agent and tool. `NULLS LAST` is the order of the index. */
async function countCalls(reader: Reader, tenant: TenantId, since: Date) {
  const rows = await reader.$queryRaw`
    SELECT principal_id AS principal, tool, count(*)::int AS calls
      FROM (SELECT principal_id, tool FROM ledger
             WHERE tenant_id = ${tenant} AND issued_at >= ${since} AND kind = 'decision'
             ORDER BY issued_at DESC NULLS LAST, log_index DESC NULLS LAST LIMIT ${callsMax}::int) AS newest
     GROUP BY principal_id, tool`;
  return Counted.parse(rows);
}
