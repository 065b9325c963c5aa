import type { TenantId } from '@countersign/contracts';
import { shownTargetsMax, type BoundaryTargets } from '@countersign/contracts/governance-kernel';
import { z } from 'zod';
import { toolAddress } from '../registry/tool-definition.ts';
import { boundaryTargets } from '../standing/boundary-targets.ts';
import type { Reader } from './database.ts';

const periodMs = 7 * 24 * 3_600_000;
/** The newest calls are counted. This number is read from one index within some tens of milliseconds. */
const callsMax = 20_000;
/** One more than an answer shows, so that it knows of further names. */
const namesMax = shownTargetsMax + 1;

const principals = { select: { principal_id: true } } as const;

/** The agents, tools and servers that a stop of the tenant can name. */
export async function listTargets(reader: Reader, tenant: TenantId, now: Date): Promise<BoundaryTargets> {
  const since = new Date(now.getTime() - periodMs);
  const ofTenant = { tenant_id: tenant, kind: 'agent', revoked_at: null };
  const [identities, keys, servers, tools, counted] = await Promise.all([
    reader.identity.findMany({ where: ofTenant, ...principals, orderBy: { principal_id: 'asc' }, take: namesMax }),
    reader.accessKey.findMany({ where: ofTenant, ...principals, orderBy: { key_id: 'desc' }, take: namesMax }),
    reader.mcpServer.findMany({ select: { server_id: true }, orderBy: { server_id: 'asc' }, take: namesMax }),
    reader.mcpTool.findMany({
      select: { server_id: true, tool_name: true },
      orderBy: [{ server_id: 'asc' }, { tool_name: 'asc' }],
      take: namesMax,
    }),
    countCalls(reader, tenant, since),
  ]);
  return boundaryTargets({
    agents: [...identities, ...keys].map(({ principal_id }) => principal_id),
    tools: tools.map(({ server_id, tool_name }) => toolAddress({ serverId: server_id, toolName: tool_name })),
    servers: servers.map(({ server_id }) => server_id),
    counted,
    areAllCounted: counted.reduce((sum, { calls }) => sum + calls, 0) < callsMax,
  });
}

const Counted = z.array(z.object({ principal: z.string(), tool: z.string().nullable(), calls: z.int() }));

/** `NULLS LAST` is the order of the index. */
async function countCalls(reader: Reader, tenant: TenantId, since: Date) {
  const rows = await reader.$queryRaw`
    SELECT principal_id AS principal, tool, count(*)::int AS calls
      FROM (SELECT principal_id, tool FROM ledger
             WHERE tenant_id = ${tenant} AND issued_at >= ${since} AND kind = 'decision'
             ORDER BY issued_at DESC NULLS LAST, log_index DESC NULLS LAST LIMIT ${callsMax}::int) AS newest
     GROUP BY principal_id, tool`;
  return Counted.parse(rows);
}
