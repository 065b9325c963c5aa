import {
  AppError,
  type ApprovalId,
  type Digest,
  type Instant,
  type PlainJson,
  type PrincipalId,
  type SessionId,
  type TenantId,
} from '@countersign/contracts';
import { approveServerAction, approveServerResource } from '@countersign/contracts/governance-kernel';
import { argsHash, intentHash, receiptIdOf } from '@countersign/receipts';
import type { ApprovalRow } from '../../controls/approvals/approval-row.ts';
import { approvals } from '../../controls/approvals/approvals.ts';
import { carriedBy } from '../../controls/approvals/counted-votes.ts';
import { usedOnce } from '../../controls/approvals/pending.ts';
import { lockedUntil } from '../../controls/approvals/timelock.ts';
import type { Hasher } from '../../call/normalise.ts';
import type { LedgerBatch } from '../../ledger/batch.ts';
import { put, wanted } from '../../ledger/control.ts';
import { activePolicy, wantedPolicies } from '../../controls/policy/policy-heads.ts';
import { settingStatement, type SettingDeps } from '../../controls/policy/setting-statement.ts';
import { approvalTerms } from '../../controls/voting/approval-terms.ts';
import type { ObservedTool } from '../../registry/mcp-registry.ts';
import { mcpServers, ownerOf, pinOf, type McpServerRow } from '../../registry/mcp-servers.ts';

type ApproveDeps = SettingDeps & { hasher: Hasher };

type Approving = {
  tenant: TenantId;
  by: PrincipalId;
  key: string;
  serverId: string;
  /** The tools that the server lists now. */
  tools: readonly ObservedTool[];
  definitionsHash: Digest;
  /** The hash of the configuration under which the tools were listed. */
  configHash: Digest | null;
  expiresAt: Instant | undefined;
  approval: { id: ApprovalId; session: SessionId };
};

/**
 * Approves a server with all tools that it lists. The change is sealed in the transaction that consumes the approval.
 * Throws NOT_FOUND, END_PASSED, APPROVAL_NEEDED for an approval that is unusable or for something else, and
 * PRECONDITION_FAILED when the configuration has changed since the tools were listed.
 */
export async function approveServer(deps: ApproveDeps, approving: Approving): Promise<McpServerRow> {
  const { tenant, by, key, serverId, tools, definitionsHash, expiresAt, approval } = approving;
  const owner = ownerOf(key);
  const chain = { tenant, session: approval.session };
  const beganMs = deps.clock().getTime();
  return await deps.ledger.submit({
    chain,
    wants: [
      wanted(mcpServers, owner),
      wanted(approvals, { ...chain, id: approval.id }),
      wanted(approvalTerms, tenant),
      ...wantedPolicies(tenant),
    ],
    conclude: (batch) => {
      const nowMs = batch.issuedMs(chain, beganMs);
      const server = batch.rows(mcpServers, owner).find((row) => row.key === key);
      if (server === undefined) throw new AppError('NOT_FOUND', 'The tenant has no MCP server with this ID');
      // The owner of the server controls how long the listing takes, and could change the configuration in that time.
      if (server.configHash !== approving.configHash) throw exchanged();
      const granted = requireApproval(deps, { batch, nowMs, approving });
      // A request from before the revocation cannot undo it, even if people voted on it later.
      if (server.revokedAtMs !== null && granted.createdAtMs <= server.revokedAtMs)
        throw needed('The server was revoked after this approval was requested');
      const expiresAtMs = expiresAt === undefined ? null : Date.parse(expiresAt);
      if (expiresAtMs !== null && expiresAtMs <= nowMs)
        throw new AppError('END_PASSED', 'expires_at is in the past. Choose a later time', { param: 'expires_at' });
      const setting = {
        server_id: serverId,
        state: 'approved',
        config_hash: server.configHash,
        definitions_hash: definitionsHash,
        tools: tools.length,
        expires_at: expiresAt ?? null,
      };
      const statement = settingStatement(deps, {
        ...{ ...chain, by, nowMs, setting, kind: 'registry', action: 'mcp.server.approve' },
        ...{ resource: `mcp_server:${serverId}`, approvalId: approval.id },
      });
      const row: McpServerRow = {
        ...server,
        ...{ state: 'approved', reason: null, approvedBy: by, approvedAtMs: nowMs, expiresAtMs },
        approvalReceiptId: receiptIdOf(statement.ulid),
        ...{ revokedBy: null, revokedAtMs: null, updatedAtMs: nowMs },
        firstListedAtMs: server.firstListedAtMs ?? nowMs,
      };
      const pins = tools.map(pinOf);
      batch.seal(statement, () => ({
        changes: [put(mcpServers, { ...row, pins }), put(approvals, usedOnce(deps.provider, granted, nowMs))],
      }));
      return () => row;
    },
  });
}

function exchanged(): AppError {
  const problem = 'The configuration of the server changed while its tools were listed';
  return new AppError('PRECONDITION_FAILED', problem, { param: 'definitions_hash' });
}

type Requiring = { batch: LedgerBatch; nowMs: number; approving: Approving };

/** The unused approval of exactly these definitions, with votes that still count, under the active policy. */
function requireApproval({ hasher }: ApproveDeps, { batch, nowMs, approving }: Requiring): ApprovalRow {
  const { tenant, approval } = approving;
  const row = batch.row(approvals, { tenant, session: approval.session, id: approval.id });
  if (row === null) throw needed('The tenant has no approval with this ID');
  if (!intentsOf(hasher, row, approving).includes(row.intentHash)) throw needed('The approval is for something else');
  if (row.policyHash !== (activePolicy(batch, tenant)?.hash ?? null))
    throw needed('The policy changed after the approval. Request a new approval');
  if (row.state !== 'approved' || row.usesRemaining < 1) throw needed(`The approval is ${row.state}`);
  if (nowMs >= row.expiresAtMs) throw needed('The approval has expired');
  const locked = lockedUntil(row, nowMs);
  if (locked !== null) throw needed(`The approval may be used from ${locked} on`);
  const carried = carriedBy(row, { terms: batch.row(approvalTerms, tenant), sponsor: row.sponsor });
  if (carried.brokenBy === null && carried.approvedBy.length === 0)
    throw needed('The votes of the approval no longer count');
  return row;
}

/**
 * The calls that the approval may be for. Their resource contains `expires_at`, or operators sent it as an argument.
 */
function intentsOf({ provider, saltOf }: Hasher, row: ApprovalRow, approving: Approving): Digest[] {
  const { tenant, serverId, definitionsHash, expiresAt } = approving;
  const intentOf = (resource: string, args: Record<string, PlainJson>) =>
    intentHash(provider, {
      ...{ tenant, principal: row.requestedBy, session: row.session, tool: null },
      ...{ action: approveServerAction, resource, args_hash: argsHash(provider, saltOf(tenant), args) },
    });
  const named = intentOf(approveServerResource(serverId, definitionsHash, expiresAt), {});
  if (expiresAt === undefined) return [named];
  return [named, intentOf(approveServerResource(serverId, definitionsHash), { expires_at: expiresAt })];
}

function needed(message: string): AppError {
  return new AppError('APPROVAL_NEEDED', message, { param: 'approval_receipt_id' });
}
