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
import type { ApprovalRow } from '../approvals/approval-row.ts';
import { approvals } from '../approvals/approvals.ts';
import { carriedBy } from '../approvals/counted-votes.ts';
import { usedOnce } from '../approvals/pending.ts';
import { lockedUntil } from '../approvals/timelock.ts';
import type { Hasher } from '../call/normalise.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import { put, wanted } from '../ledger/control.ts';
import { activePolicy, wantedPolicies } from '../policy/policy-heads.ts';
import { settingStatement, type SettingParts } from '../policy/setting-statement.ts';
import { approvalTerms } from '../voting/approval-terms.ts';
import type { ObservedTool } from '../registry/mcp-registry.ts';
import { mcpServers, ownerOf, type McpServerRow } from '../registry/mcp-servers.ts';

type ApproveParts = SettingParts & { hasher: Hasher };

type Approving = {
  tenant: TenantId;
  by: PrincipalId;
  key: string;
  serverId: string;
  /** The current list of the server. */
  tools: readonly ObservedTool[];
  definitionsHash: Digest;
  expiresAt: Instant | undefined;
  approval: { id: ApprovalId; session: SessionId };
};

/**
 * Approves a server with all that it lists and seals that, in the transaction that uses the approval up. Throws NOT_FOUND, APPROVAL_NEEDED for
 * an approval that is not of exactly this, and END_PASSED.
 */
export async function approveServer(parts: ApproveParts, approving: Approving): Promise<McpServerRow> {
  const { tenant, by, key, serverId, tools, definitionsHash, expiresAt, approval } = approving;
  const owner = ownerOf(key);
  const chain = { tenant, session: approval.session };
  const beganMs = parts.clock().getTime();
  return await parts.ledger.submit({
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
      if (server === undefined) throw new AppError('NOT_FOUND', 'There is no such MCP server');
      const granted = requireApproval(parts, { batch, nowMs, approving });
      // Who revoked the server did not know of votes that came later on a request from before.
      if (server.revokedAtMs !== null && granted.createdAtMs <= server.revokedAtMs)
        throw needed('The server was revoked after this approval was requested');
      const expiresAtMs = expiresAt === undefined ? null : Date.parse(expiresAt);
      if (expiresAtMs !== null && expiresAtMs <= nowMs)
        throw new AppError('END_PASSED', 'The approval would have expired already', { param: 'expires_at' });
      const setting = {
        server_id: serverId,
        state: 'approved',
        config_hash: server.configHash,
        definitions_hash: definitionsHash,
        tools: tools.length,
        expires_at: expiresAt ?? null,
      };
      const statement = settingStatement(parts, {
        ...{ ...chain, by, nowMs, setting, kind: 'registry', action: 'mcp.server.approve' },
        ...{ resource: `mcp_server:${serverId}`, approvalId: approval.id },
      });
      const row: McpServerRow = {
        ...server,
        ...{ state: 'approved', reason: null, approvedBy: by, approvedAtMs: nowMs, expiresAtMs },
        approvalReceiptId: receiptIdOf(statement.ulid),
        ...{ revokedBy: null, revokedAtMs: null, updatedAtMs: nowMs },
      };
      const pins = tools.map(({ name, hash, definition, effectLevel }) => {
        return { tool_name: name, hash, definition, effect_level: effectLevel };
      });
      batch.seal(statement, () => ({
        changes: [put(mcpServers, { ...row, pins }), put(approvals, usedOnce(parts.provider, granted, nowMs))],
      }));
      return () => row;
    },
  });
}

type Requiring = { batch: LedgerBatch; nowMs: number; approving: Approving };

/** The approval of exactly these definitions, with votes that count now, unused, under the policy that is active. */
function requireApproval({ hasher }: ApproveParts, { batch, nowMs, approving }: Requiring): ApprovalRow {
  const { tenant, approval } = approving;
  const row = batch.row(approvals, { tenant, session: approval.session, id: approval.id });
  if (row === null) throw needed('There is no such approval');
  if (row.intentHash !== intentOf(hasher, row, approving)) throw needed('The approval is for something else');
  if (row.policyHash !== (activePolicy(batch, tenant)?.hash ?? null))
    throw needed('The approval was given under another policy');
  if (row.state !== 'approved' || row.usesRemaining < 1) throw needed(`The approval is ${row.state}`);
  if (nowMs >= row.expiresAtMs) throw needed('The approval has expired');
  const locked = lockedUntil(row, nowMs);
  if (locked !== null) throw needed(`The approval may be used from ${locked} on`);
  const carried = carriedBy(row, { terms: batch.row(approvalTerms, tenant), sponsor: row.sponsor });
  if (carried.brokenBy === null && carried.approvedBy.length === 0)
    throw needed('The votes of the approval count no more');
  return row;
}

function intentOf({ provider, saltOf }: Hasher, row: ApprovalRow, approving: Approving): Digest {
  const { tenant, serverId, definitionsHash, expiresAt } = approving;
  const args: Record<string, PlainJson> = expiresAt === undefined ? {} : { expires_at: expiresAt };
  return intentHash(provider, {
    ...{ tenant, principal: row.requestedBy, session: row.session, tool: null },
    action: approveServerAction,
    resource: approveServerResource(serverId, definitionsHash),
    args_hash: argsHash(provider, saltOf(tenant), args),
  });
}

function needed(message: string): AppError {
  return new AppError('APPROVAL_NEEDED', message, { param: 'approval_receipt_id' });
}
