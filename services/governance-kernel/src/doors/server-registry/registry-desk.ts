import {
  instantOf,
  AppError,
  isAppError,
  type Instant,
  type PrincipalId,
  type ReceiptId,
  type TenantId,
} from '@countersign/contracts';
import type { Digest } from '@countersign/contracts';
import { definedMembers } from '@countersign/crypto';
import {
  readApproveServerResource,
  type HiddenTool,
  type McpServer,
  type McpServerDetail,
  type ServerDocument,
} from '@countersign/contracts/governance-kernel';
import { approveServer } from './approve-server.ts';
import { definitionsHash } from './definitions-hash.ts';
import { describeConfig, isSameAddress } from './describe-config.ts';
import { endKeysForServer, endReplacedKeys, isSameServer, type EndKeysDeps } from './end-keys.ts';
import type { McpRegistry } from '../../registry/mcp-registry.ts';
import { serverKey } from '../../registry/mcp-servers.ts';
import { argsHash } from '@countersign/receipts';
import { registerServer, type RegisterDeps } from './register-server.ts';
import { disableServer, revokeServer } from './revoke-server.ts';
import { serverDetail, serverView, type StoredTool } from './server-view.ts';
import type { ApprovalRow } from '../../controls/approvals/approval-row.ts';
import { endWithServer } from '../../controls/approvals/end-approval.ts';
import type { ApprovalKey, ApprovalDeps } from '../../controls/approvals/seal-move.ts';
import { grantInForce } from '../../controls/sandbox/grant-in-force.ts';
import type { SandboxGrantRow } from '../../controls/sandbox/sandbox-grants.ts';
import type { LookOwner } from '../mcp/servers.ts';
import type { McpServerConfig } from '../mcp/server-config.ts';
import type { Look, ServerDirectory } from '../mcp/server-directory.ts';
import { readServerDocument } from '../mcp/server-document.ts';
import { observedTools } from '../../registry/observed-tools.ts';
import { refusalOf, unapprovedText, type StoredServer } from '../mcp/tenant-servers.ts';

export type DeskDeps = RegisterDeps &
  EndKeysDeps &
  ApprovalDeps & {
    servers: ServerDirectory;
    reachesPrivate: boolean;
    lookAt(config: McpServerConfig, owner: LookOwner): Promise<Look>;
    findGrants(tenant: TenantId): Promise<SandboxGrantRow[]>;
    recordTools: McpRegistry['recordTools'];
    loadServers(tenant: TenantId): Promise<StoredServer[]>;
    findTools(key: string): Promise<StoredTool[]>;
    findHidden(key: string): Promise<HiddenTool[]>;
    /** The approval that a receipt is about. `null` when there is none. */
    findApprovalOf(tenant: TenantId, receipt: ReceiptId): Promise<Pick<ApprovalRow, 'id' | 'session'> | null>;
    /** The tenant's newest open request to approve these definitions, made after the server's last revocation. */
    findRequest(tenant: TenantId, request: AskedRequest): Promise<ApprovalRow | null>;
    listOpenRequests(tenant: TenantId, query: { serverId: string; until: Date }): Promise<ApprovalKey[]>;
  };

/** Selects requests to approve these definitions, whatever end they state for the approval of the server. */
export type AskedRequest = { serverId: string; definitionsHash: Digest; now: Date; revokedAtMs: number | null };

/**
 * All servers of the tenant and of the installation, by name. A server of the tenant hides a server of the installation
 * with the same name.
 */
export async function listServers(deps: DeskDeps, tenant: TenantId): Promise<McpServer[]> {
  const nowMs = deps.clock().getTime();
  const visible = await visibleServers(deps, tenant);
  return visible.map((stored) =>
    serverView(shownRow(deps, stored), { nowMs, ...connectionOf(deps, { tenant, stored }) }),
  );
}

/** Throws NOT_FOUND. */
export async function getServer(deps: DeskDeps, tenant: TenantId, serverId: string): Promise<McpServerDetail> {
  return await detailOf(deps, { tenant, stored: await visibleServer(deps, tenant, serverId) });
}

type Compared = { tenant: TenantId; serverId: string; url: string };

/**
 * Compares an address with that of a server. The server is read once, so the comparison is about the shown definitions.
 * Throws NOT_FOUND.
 */
export async function compareAddress(deps: DeskDeps, { tenant, serverId, url }: Compared) {
  const stored = await visibleServer(deps, tenant, serverId);
  const { config } = stored;
  // The configuration of a server of the installation is not stored, so members cannot test guesses about it.
  const hasAddress = config !== null && config.transport === 'http' && isSameAddress(config.url, url);
  return { ...(await detailOf(deps, { tenant, stored })), has_address: hasAddress };
}

type Registration = { tenant: TenantId; by: PrincipalId; document: ServerDocument };
type Added = McpServerDetail & { problem: string | null; look: Look | null };

/** Adds the servers of a document, after listing the tools of each reachable one. */
export async function addServers(deps: DeskDeps, { tenant, by, document }: Registration): Promise<Added[]> {
  const configs = readServerDocument(document);
  const added: Added[] = [];
  for (const config of configs) added.push(await addServer(deps, { tenant, by, config }));
  return added;
}

async function addServer(
  deps: DeskDeps,
  { tenant, by, config }: { tenant: TenantId; by: PrincipalId; config: McpServerConfig },
): Promise<Added> {
  const sandbox = await grantOf(deps, tenant, config);
  const looked = await lookOrProblem(() => deps.lookAt(config, { tenant, sandbox }));
  const { server_id: serverId, transport } = config;
  const before = (await deps.loadServers(tenant)).find(({ row }) => row.key === serverKey(tenant, serverId));
  const isOther = before !== undefined && !isSameServer(before, config);
  // Keys are revoked before the change, so that a failure leaves no key for the new server.
  if (isOther) await endKeysForServer(deps, { tenant, by, serverId });
  const row = await registerServer(deps, {
    ...{ tenant, by, serverId, transport, isOther, isListed: looked.look !== null },
    config: definedMembers(config),
    shown: describeConfig(deps.hasher, tenant, config),
  });
  // Keys are revoked once more, since a key may have been created in the meantime. Such a key cannot have called the
  // server, which is not approved yet.
  if (isOther) await endKeysForServer(deps, { tenant, by, serverId });
  else await endReplacedKeys(deps, { by, row });
  if (looked.look !== null) await deps.recordTools(row.key, observedTools(looked.look.tools), looked.look.hidden);
  return { ...(await detailOf(deps, { tenant, stored: { row, config, sandbox } })), ...looked };
}

/** The grant under which a command of the tenant starts. */
export async function grantOf(
  deps: DeskDeps,
  tenant: TenantId,
  config: McpServerConfig,
): Promise<StoredServer['sandbox']> {
  if (config.transport === 'http') return null;
  const { provider, saltOf } = deps.hasher;
  const configHash = argsHash(provider, saltOf(tenant), definedMembers(config));
  const server = { name: config.server_id, tenant, config: describeConfig(deps.hasher, tenant, config), configHash };
  const rows = await deps.findGrants(tenant);
  return grantInForce(deps.provider, { rows, server, tool: null, nowMs: deps.clock().getTime() });
}

type Looked = { look: Look; problem: null } | { look: null; problem: string };

/** The listed tools, or the reason why there are none. */
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

/** Approves a server. Its tools are listed once more before, since the approval is for the current list. */
export async function approveListed(deps: DeskDeps, request: ApproveRequest): Promise<McpServerDetail> {
  const { tenant, by, serverId, expiresAt } = request;
  const stored = await visibleServer(deps, tenant, serverId);
  const { key, configHash } = stored.row;
  const { tools, hidden } = await liveTools(deps, stored);
  const observed = observedTools(tools);
  await deps.recordTools(key, observed, hidden);
  const hash = definitionsHash(deps.provider, { serverId, configHash, tools: observed });
  if (hash !== request.definitionsHash)
    throw new AppError('PRECONDITION_FAILED', 'The server or its tools changed after you read them. Read them again', {
      param: 'definitions_hash',
      details: { definitions_hash: hash },
    });
  const approval = await deps.findApprovalOf(tenant, request.receipt);
  if (approval === null)
    throw new AppError('APPROVAL_NEEDED', 'approval_receipt_id is not the receipt of an approval', {
      param: 'approval_receipt_id',
    });
  await endReplacedKeys(deps, { by, row: stored.row });
  await approveServer(deps, {
    ...{ tenant, by, key, serverId, configHash, expiresAt, approval },
    tools: observed,
    definitionsHash: hash,
  });
  return await getServer(deps, tenant, serverId);
}

/** The current list of a known server. Throws UPSTREAM_FAILED. */
export async function liveTools(deps: DeskDeps, { row, config, sandbox }: StoredServer): Promise<Look> {
  if (row.tenant !== null) {
    if (config === null) throw new AppError('UPSTREAM_FAILED', 'The configuration of the server cannot be read');
    return await deps.lookAt(config, { tenant: row.tenant, sandbox });
  }
  const server = deps.servers.declared().find(({ key }) => key === row.key)?.server ?? null;
  if (server === null)
    throw new AppError('UPSTREAM_FAILED', 'The configuration of this kernel does not declare the server');
  const tools = await server.tools().catch((cause: unknown) => {
    throw new AppError('UPSTREAM_FAILED', 'The tools of the server cannot be listed', { cause });
  });
  return { tools, hidden: server.hidden };
}

type RevokeRequest = { tenant: TenantId; by: PrincipalId; serverId: string; reason: string };

export async function revokeNamed(deps: DeskDeps, request: RevokeRequest): Promise<McpServerDetail> {
  await revokeServer(deps, request);
  return await endedServer(deps, request);
}

/** Revokes a server that the tenant added itself. Throws ILLEGAL_TRANSITION for a server of the installation. */
export async function disableOwn(deps: DeskDeps, request: RevokeRequest): Promise<McpServerDetail> {
  const { revokedAtMs } = await disableServer(deps, request);
  await endOpenRequests(deps, request, revokedAtMs ?? deps.clock().getTime());
  return await endedServer(deps, request);
}

/** Ends requests, so that votes on them cannot approve the server. A repeated revocation ends those still open. */
async function endOpenRequests(
  deps: DeskDeps,
  { tenant, by, serverId }: RevokeRequest,
  revokedAtMs: number,
): Promise<void> {
  const open = await deps.listOpenRequests(tenant, { serverId, until: new Date(revokedAtMs) });
  for (const { id, session } of open)
    await endWithServer(deps, { tenant, id, session, by, reason: 'The server was revoked' });
}

async function endedServer(deps: DeskDeps, { tenant, serverId }: RevokeRequest): Promise<McpServerDetail> {
  // Ends the server's process now, and not at the next call.
  await deps.servers.reload(tenant);
  return await getServer(deps, tenant, serverId);
}

export async function visibleServers(deps: DeskDeps, tenant: TenantId): Promise<StoredServer[]> {
  const stored = await deps.loadServers(tenant);
  const own = new Set(stored.filter(({ row }) => row.tenant !== null).map(({ row }) => row.name));
  return stored
    .filter(({ row }) => row.tenant !== null || !own.has(row.name))
    .sort((left, right) => (left.row.name < right.row.name ? -1 : 1));
}

/** Throws NOT_FOUND. */
export async function visibleServer(deps: DeskDeps, tenant: TenantId, serverId: string): Promise<StoredServer> {
  const stored = await visibleServers(deps, tenant);
  const found = stored.find(({ row }) => row.name === serverId);
  if (found === undefined) throw new AppError('NOT_FOUND', 'The tenant has no MCP server with this ID');
  return found;
}

type OfTenant = { tenant: TenantId; stored: StoredServer };

async function detailOf(deps: DeskDeps, { tenant, stored }: OfTenant): Promise<McpServerDetail> {
  const row = shownRow(deps, stored);
  const [tools, hidden] = await Promise.all([deps.findTools(row.key), deps.findHidden(row.key)]);
  const detail = serverDetail(deps.provider, row, {
    nowMs: deps.clock().getTime(),
    ...connectionOf(deps, { tenant, stored }),
    canBeApproved: row.state !== 'discovered' || row.tenant === null,
    ...{ tools, hidden },
  });
  return { ...detail, approval_request: await requestOf(deps, row, detail.definitions_hash) };
}

/** The row with its described configuration. A row from before the digests of addresses has none. */
function shownRow({ hasher }: DeskDeps, { row, config }: StoredServer): StoredServer['row'] {
  if (row.tenant === null || config === null) return row;
  return { ...row, config: describeConfig(hasher, row.tenant, config) };
}

async function requestOf(
  deps: DeskDeps,
  { name: serverId, tenant, revokedAtMs }: StoredServer['row'],
  definitionsHash: Digest | null,
): Promise<McpServerDetail['approval_request']> {
  if (tenant === null || definitionsHash === null) return null;
  const request = await deps.findRequest(tenant, { serverId, definitionsHash, now: deps.clock(), revokedAtMs });
  if (request === null || (request.state !== 'pending' && request.state !== 'approved')) return null;
  const { expiresAt = null } = readApproveServerResource(request.resource) ?? {};
  const shown = { approval_id: request.id, state: request.state, expires_at: instantOf(request.expiresAtMs) };
  return { ...shown, server_expires_at: expiresAt };
}

function connectionOf(deps: DeskDeps, { tenant, stored }: OfTenant) {
  const located = deps.servers.list(tenant).find(({ key }) => key === stored.row.key);
  return { notConnected: notConnected(deps, stored), health: located?.server?.health() ?? null };
}

/** The reason why this kernel does not connect to a server. `null` when it does. */
function notConnected(deps: DeskDeps, { row, config, sandbox }: StoredServer): string | null {
  if (row.tenant === null)
    return deps.servers.declared().some(({ key }) => key === row.key)
      ? null
      : 'The configuration of this kernel does not declare this server';
  if (config === null) return 'The configuration of the server cannot be decrypted with the secrets of this kernel';
  return refusalOf({ config, sandbox }, deps) ?? unapprovedText(row, deps.clock().getTime());
}
