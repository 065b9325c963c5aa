import {
  AppError,
  isAppError,
  type Instant,
  type PrincipalId,
  type ReceiptId,
  type TenantId,
} from '@countersign/contracts';
import type { Digest } from '@countersign/contracts';
import type { McpServer, McpServerDetail, ServerDocument } from '@countersign/contracts/governance-kernel';
import { parsePlainJson } from '@countersign/crypto';
import type { PlainJson } from '@countersign/contracts';
import { instant } from '../approvals/timelock.ts';
import { approveServer } from './approve-server.ts';
import { definitionsHash } from './definitions-hash.ts';
import type { McpRegistry } from '../registry/mcp-registry.ts';
import { serverKey } from '../registry/mcp-servers.ts';
import { registerServer, type RegisterParts } from './register-server.ts';
import { disableServer, revokeServer } from './revoke-server.ts';
import { serverDetail, serverView, type StoredTool } from './server-view.ts';
import type { ApprovalRow } from '../approvals/approval-row.ts';
import { grantInForce } from '../sandbox/grant-in-force.ts';
import type { SandboxGrantRow } from '../sandbox/sandbox-grants.ts';
import type { LookOwner } from '../mcp/servers.ts';
import { describeDeclaration, type McpServerConfig } from '../mcp/server-config.ts';
import type { Look, ServerDirectory } from '../mcp/server-directory.ts';
import { readServerDocument } from '../mcp/server-document.ts';
import { observedTools } from '../registry/observed-tools.ts';
import { refusalOf, type StoredServer } from '../mcp/tenant-servers.ts';
import type { HiddenTool } from '@countersign/contracts/governance-kernel';

export type DeskParts = RegisterParts & {
  servers: ServerDirectory;
  reachesPrivate: boolean;
  lookAt(config: McpServerConfig, owner: LookOwner): Promise<Look>;
  findGrants(tenant: TenantId): Promise<SandboxGrantRow[]>;
  recordTools: McpRegistry['recordTools'];
  loadServers(tenant: TenantId): Promise<StoredServer[]>;
  findTools(key: string): Promise<StoredTool[]>;
  findHidden(key: string): Promise<HiddenTool[]>;
  /** The approval that a receipt is about. `null` when the receipt is about none. */
  findApprovalOf(tenant: TenantId, receipt: ReceiptId): Promise<Pick<ApprovalRow, 'id' | 'session'> | null>;
  /** The open request of the tenant for the approval of this resource, made after the server was revoked last. */
  findRequest(tenant: TenantId, asked: AskedRequest): Promise<ApprovalRow | null>;
};

export type AskedRequest = { resource: string; now: Date; revokedAtMs: number | null };

/** Every server that the tenant has, by name. A name of the installation hides the same name of the tenant. */
export async function listServers(parts: DeskParts, tenant: TenantId): Promise<McpServer[]> {
  const nowMs = parts.clock().getTime();
  const visible = await visibleServers(parts, tenant);
  return visible.map((stored) => serverView(stored.row, { nowMs, ...connectionOf(parts, { tenant, stored }) }));
}

/** Throws NOT_FOUND. */
export async function getServer(parts: DeskParts, tenant: TenantId, serverId: string): Promise<McpServerDetail> {
  return await detailOf(parts, { tenant, stored: await visibleServer(parts, tenant, serverId) });
}

type Registration = { tenant: TenantId; by: PrincipalId; document: ServerDocument };
type Added = McpServerDetail & { problem: string | null; look: Look | null };

/** Adds the servers of a document, after it has looked at the tools of each that can be reached. */
export async function addServers(parts: DeskParts, { tenant, by, document }: Registration): Promise<Added[]> {
  const configs = readServerDocument(document);
  const added: Added[] = [];
  for (const config of configs) added.push(await addServer(parts, { tenant, by, config }));
  return added;
}

async function addServer(
  parts: DeskParts,
  { tenant, by, config }: { tenant: TenantId; by: PrincipalId; config: McpServerConfig },
): Promise<Added> {
  const sandbox = await grantOf(parts, tenant, config);
  const looked = await lookOrProblem(() => parts.lookAt(config, { tenant, sandbox }));
  const { server_id: serverId, transport } = config;
  const row = await registerServer(parts, {
    ...{ tenant, by, serverId, transport, isListed: looked.look !== null },
    config: membersOf(config),
    shown: membersOf(describeDeclaration(config)),
  });
  if (looked.look !== null) await parts.recordTools(row.key, observedTools(looked.look.tools), looked.look.hidden);
  return { ...(await detailOf(parts, { tenant, stored: { row, config, sandbox } })), ...looked };
}

/** The grant under which a command of the tenant starts. */
export async function grantOf(
  parts: DeskParts,
  tenant: TenantId,
  config: McpServerConfig,
): Promise<StoredServer['sandbox']> {
  if (config.transport === 'http') return null;
  const server = { name: config.server_id, tenant, config: membersOf(describeDeclaration(config)) };
  const rows = await parts.findGrants(tenant);
  return grantInForce(parts.provider, { rows, server, tool: null, nowMs: parts.clock().getTime() });
}

type Looked = { look: Look; problem: null } | { look: null; problem: string };

/** The result of a look, or the reason why there is none. */
export async function lookOrProblem(look: () => Promise<Look>): Promise<Looked> {
  try {
    return { look: await look(), problem: null };
  } catch (error) {
    if (!isAppError(error) || !['UPSTREAM_FAILED', 'ILLEGAL_TRANSITION'].includes(error.code)) throw error;
    return { look: null, problem: error.message };
  }
}

type ApproveRequest = {
  tenant: TenantId;
  by: PrincipalId;
  serverId: string;
  receipt: ReceiptId;
  definitionsHash: Digest;
  expiresAt: Instant | undefined;
};

/** Looks at the server once more: what is approved is what it lists now. */
export async function approveListed(parts: DeskParts, request: ApproveRequest): Promise<McpServerDetail> {
  const { tenant, by, serverId, expiresAt } = request;
  const stored = await visibleServer(parts, tenant, serverId);
  const { key, configHash } = stored.row;
  const { tools, hidden } = await liveTools(parts, stored);
  const observed = observedTools(tools);
  await parts.recordTools(key, observed, hidden);
  const hash = definitionsHash(parts.provider, { serverId, configHash, tools: observed });
  if (hash !== request.definitionsHash)
    throw new AppError('PRECONDITION_FAILED', 'The server or its tools changed since they were read', {
      param: 'definitions_hash',
      details: { definitions_hash: hash },
    });
  const approval = await parts.findApprovalOf(tenant, request.receipt);
  if (approval === null)
    throw new AppError('APPROVAL_NEEDED', 'This receipt is not of an approval', { param: 'approval_receipt_id' });
  await approveServer(parts, {
    ...{ tenant, by, key, serverId, expiresAt, approval },
    tools: observed,
    definitionsHash: hash,
  });
  return await getServer(parts, tenant, serverId);
}

/** The current list of a known server. Throws UPSTREAM_FAILED. */
export async function liveTools(parts: DeskParts, { row, config, sandbox }: StoredServer): Promise<Look> {
  if (row.tenant !== null) {
    if (config === null) throw new AppError('UPSTREAM_FAILED', 'The configuration of the server cannot be read');
    return await parts.lookAt(config, { tenant: row.tenant, sandbox });
  }
  const server = parts.servers.declared().find(({ key }) => key === row.key)?.server ?? null;
  if (server === null)
    throw new AppError('UPSTREAM_FAILED', 'The configuration of this kernel does not declare the server');
  const tools = await server.tools().catch((cause: unknown) => {
    throw new AppError('UPSTREAM_FAILED', 'The tools of the server cannot be listed', { cause });
  });
  return { tools, hidden: server.hidden };
}

type RevokeRequest = { tenant: TenantId; by: PrincipalId; serverId: string; reason: string };

export async function revokeNamed(parts: DeskParts, request: RevokeRequest): Promise<McpServerDetail> {
  await revokeServer(parts, request);
  return await endedServer(parts, request);
}

/** The same for a server that the tenant added itself. Throws ILLEGAL_TRANSITION for one of the installation. */
export async function disableOwn(parts: DeskParts, request: RevokeRequest): Promise<McpServerDetail> {
  await disableServer(parts, request);
  return await endedServer(parts, request);
}

async function endedServer(parts: DeskParts, { tenant, serverId }: RevokeRequest): Promise<McpServerDetail> {
  // Its process ends now, and not at the next call.
  await parts.servers.reload(tenant);
  return await getServer(parts, tenant, serverId);
}

export async function visibleServers(parts: DeskParts, tenant: TenantId): Promise<StoredServer[]> {
  const stored = await parts.loadServers(tenant);
  const installed = new Set(stored.filter(({ row }) => row.tenant === null).map(({ row }) => row.name));
  return stored
    .filter(({ row }) => row.tenant === null || !installed.has(row.name))
    .sort((left, right) => (left.row.name < right.row.name ? -1 : 1));
}

/** Throws NOT_FOUND. */
export async function visibleServer(parts: DeskParts, tenant: TenantId, serverId: string): Promise<StoredServer> {
  const stored = await visibleServers(parts, tenant);
  const found = stored.find(({ row }) => row.key === serverId || row.key === serverKey(tenant, serverId));
  if (found === undefined) throw new AppError('NOT_FOUND', 'There is no such MCP server');
  return found;
}

type OfTenant = { tenant: TenantId; stored: StoredServer };

async function detailOf(parts: DeskParts, { tenant, stored }: OfTenant): Promise<McpServerDetail> {
  const { row } = stored;
  const [tools, hidden] = await Promise.all([parts.findTools(row.key), parts.findHidden(row.key)]);
  const detail = serverDetail(parts.provider, row, {
    nowMs: parts.clock().getTime(),
    ...connectionOf(parts, { tenant, stored }),
    canBeApproved: row.state !== 'discovered' || row.tenant === null,
    ...{ tools, hidden },
  });
  return { ...detail, approval_request: await requestOf(parts, row, detail.approval?.resource) };
}

async function requestOf(
  parts: DeskParts,
  { tenant, revokedAtMs }: StoredServer['row'],
  resource: string | undefined,
): Promise<McpServerDetail['approval_request']> {
  if (tenant === null || resource === undefined) return null;
  const request = await parts.findRequest(tenant, { resource, now: parts.clock(), revokedAtMs });
  if (request === null || (request.state !== 'pending' && request.state !== 'approved')) return null;
  return { approval_id: request.id, state: request.state, expires_at: instant(request.expiresAtMs) };
}

function connectionOf(parts: DeskParts, { tenant, stored }: OfTenant) {
  const located = parts.servers.list(tenant).find(({ key }) => key === stored.row.key);
  return { notConnected: notConnected(parts, stored), health: located?.server?.health() ?? null };
}

/** Why this kernel does not connect to a server. `null`: it does. */
function notConnected(parts: DeskParts, { row, config, sandbox }: StoredServer): string | null {
  if (row.tenant === null)
    return parts.servers.declared().some(({ key }) => key === row.key) ? null : 'This kernel does not declare it';
  if (config === null) return 'Its configuration cannot be read with the secrets of this kernel';
  return refusalOf({ config, sandbox }, parts) ?? (row.state === 'approved' ? null : 'The server is not approved');
}

/** A configuration is plain JSON: it was parsed as such. */
function membersOf(config: object): Record<string, PlainJson> {
  return parsePlainJson(JSON.parse(JSON.stringify(config))) as Record<string, PlainJson>; // an object stays one
}
