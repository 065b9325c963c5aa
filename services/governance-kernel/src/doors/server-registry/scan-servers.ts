import { instantOf, type Digest, type TenantId } from '@countersign/contracts';
import type { Finding, ScanReport, ServerDocument } from '@countersign/contracts/governance-kernel';
import type { McpServerConfig } from '../mcp/server-config.ts';
import type { Look } from '../mcp/server-directory.ts';
import { readServerDocument } from '../mcp/server-document.ts';
import { rulesVersion } from '../../controls/mcp-scan/scan-rules.ts';
import { scanTools, type OtherTool } from '../../controls/mcp-scan/scan-tools.ts';
import { observedTools } from '../../registry/observed-tools.ts';
import { stateAt } from '../../registry/mcp-servers.ts';
import { pinnedDefinition, type PinnedDefinition } from '../../registry/tool-definition.ts';
import { definitionsHash } from './definitions-hash.ts';
import { grantOf, liveTools, lookOrProblem, visibleServer, visibleServers, type DeskDeps } from './registry-desk.ts';
import type { StoredServer } from '../mcp/tenant-servers.ts';

/** Scans a server of the registry. Throws NOT_FOUND. */
export async function scanNamed(deps: DeskDeps, tenant: TenantId, serverId: string): Promise<ScanReport> {
  const stored = await visibleServer(deps, tenant, serverId);
  const looked = await lookOrProblem(() => liveTools(deps, stored));
  return await reportOf(deps, tenant, { serverId, stored, ...looked });
}

/** Scans the servers of a document. They are compared with known servers of the same name, and nothing is added. */
export async function scanDocument(deps: DeskDeps, tenant: TenantId, document: ServerDocument): Promise<ScanReport[]> {
  const existing = await visibleServers(deps, tenant);
  const reports: ScanReport[] = [];
  for (const config of readServerDocument(document)) {
    const stored = existing.find(({ row }) => row.name === config.server_id) ?? null;
    const sandbox = await grantOf(deps, tenant, config);
    const looked = await lookOrProblem(() => deps.lookAt(config, { tenant, sandbox }));
    reports.push(await reportOf(deps, tenant, { serverId: config.server_id, stored, ...looked }));
  }
  return reports;
}

/** The findings about the tools of one server. */
export async function findingsOf(
  deps: DeskDeps,
  tenant: TenantId,
  { config, look }: { config: Pick<McpServerConfig, 'server_id'>; look: Look | null },
): Promise<Finding[]> {
  if (look === null) return [];
  const [others, pinned] = await Promise.all([
    otherTools(deps, tenant, config.server_id),
    pinnedTools(deps, tenant, config.server_id),
  ]);
  return await scanTools(look.tools.map(pinnedDefinition), { others, pinned });
}

type Scanned = { serverId: string; stored: StoredServer | null; look: Look | null; problem: string | null };

async function reportOf(
  deps: DeskDeps,
  tenant: TenantId,
  { serverId, stored, look, problem }: Scanned,
): Promise<ScanReport> {
  const findings = await findingsOf(deps, tenant, { config: { server_id: serverId }, look });
  const now = deps.clock();
  return {
    server_id: serverId,
    state: stored === null ? null : stateAt(stored.row, now.getTime()),
    problem,
    tool_count: look?.tools.length ?? 0,
    hidden_tools: [...(look?.hidden ?? [])],
    risk: look === null ? 'unknown' : riskOf(findings),
    findings,
    definitions_hash: stored === null || look === null ? null : hashOf(deps, stored, look),
    rules_version: rulesVersion,
    scanned_at: instantOf(now.getTime()),
  };
}

function hashOf({ provider }: DeskDeps, { row }: StoredServer, { tools }: Look): Digest {
  return definitionsHash(provider, { serverId: row.name, configHash: row.configHash, tools: observedTools(tools) });
}

function riskOf(findings: readonly Finding[]): ScanReport['risk'] {
  return (
    (['high', 'medium', 'low'] as const).find((level) => findings.some(({ severity }) => severity === level)) ?? 'none'
  );
}

async function otherTools(deps: DeskDeps, tenant: TenantId, serverId: string): Promise<OtherTool[]> {
  const servers = (await visibleServers(deps, tenant)).filter(({ row }) => row.name !== serverId);
  const lists = servers.map(async ({ row }) =>
    (await deps.findTools(row.key)).map(({ name, definition }) => ({
      serverId: row.name,
      name,
      description: typeof definition['description'] === 'string' ? definition['description'] : '',
    })),
  );
  return (await Promise.all(lists)).flat();
}

async function pinnedTools(deps: DeskDeps, tenant: TenantId, serverId: string): Promise<Map<string, PinnedDefinition>> {
  const server = (await visibleServers(deps, tenant)).find(({ row }) => row.name === serverId);
  const tools = server === undefined ? [] : await deps.findTools(server.row.key);
  const pinned = tools.filter(({ pinnedHash }) => pinnedHash !== null);
  return new Map(pinned.map(({ name, definition }) => [name, definition as PinnedDefinition])); // as it was pinned
}
