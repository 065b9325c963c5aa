import { AppError, type PrincipalId, type SandboxGrantId, type TenantId } from '@countersign/contracts';
import type { SandboxSubject, SandboxTerms } from '@countersign/contracts/governance-kernel';
import { parsePlainJson } from '@countersign/crypto';
import { receiptIdOf } from '@countersign/receipts';
import { instant } from '../approvals/timelock.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import { put, wanted, type Change } from '../ledger/control.ts';
import { ownSession } from '../ledger/own-sessions.ts';
import { settingStatement, type SettingParts } from '../policy/setting-statement.ts';
import { mcpServers, serverKey } from '../registry/mcp-servers.ts';
import { unusablePreopen } from './bubblewrap.ts';
import { grantHash } from './grant-hash.ts';
import { sandboxGrants, subjectText, type SandboxGrantRow } from './sandbox-grants.ts';

/** Every decision about a tool of the tenant looks at all of them. */
const subjectsMax = 200;

type Granting = {
  tenant: TenantId;
  by: PrincipalId;
  subject: SandboxSubject;
  terms: SandboxTerms;
  expiresInMs: number;
};

/**
 * Grants a subject its terms and seals that. The grant replaces the earlier one of the subject, and a running server is started again under it.
 * Throws NOT_FOUND for a server that is no command of the tenant, INVALID_REQUEST and LIMIT_REACHED.
 */
export async function createGrant(parts: SettingParts, granting: Granting): Promise<SandboxGrantRow> {
  const { tenant, by, terms, expiresInMs } = granting;
  requireMountable(terms);
  const subject = subjectText(granting.subject);
  const hash = grantHash(parts.provider, terms);
  const chain = { tenant, session: ownSession('mcp-registry') };
  const beganMs = parts.clock().getTime();
  return await parts.ledger.submit({
    chain,
    wants: [wanted(mcpServers, tenant), wanted(sandboxGrants, tenant)],
    conclude: (batch) => {
      const nowMs = batch.issuedMs(chain, beganMs);
      const rows = batch.rows(sandboxGrants, tenant);
      if (rows.length >= subjectsMax && !rows.some((row) => row.subject === subject))
        throw new AppError(
          'LIMIT_REACHED',
          `A tenant has ${subjectsMax} sandbox grants at most. Change the grant of an existing subject.`,
        );
      const restarted = restartOf(batch, granting, nowMs);
      const expiresAtMs = nowMs + expiresInMs;
      const id = `sbx_${parts.newUlid(nowMs)}` as SandboxGrantId; // of this form
      const setting = { subject, grant_hash: hash, expires_at: instant(expiresAtMs), terms: parsePlainJson(terms) };
      const statement = settingStatement(parts, {
        ...{ ...chain, by, nowMs, setting, kind: 'registry', action: 'sandbox.grant.create' },
        resource: `sandbox_grant:${id}`,
      });
      const row: SandboxGrantRow = {
        ...{ tenant, subject, id, terms, grantHash: hash, createdBy: by, createdAtMs: nowMs, expiresAtMs },
        receiptId: receiptIdOf(statement.ulid),
      };
      batch.seal(statement, () => ({ changes: [put(sandboxGrants, row), ...restarted] }));
      return () => row;
    },
  });
}

function requireMountable({ profile, preopens }: SandboxTerms): void {
  const reason = profile === 'bubblewrap' ? preopens.flatMap(({ path }) => unusablePreopen(path) ?? [])[0] : undefined;
  if (reason !== undefined)
    throw new AppError('INVALID_REQUEST', `A preopen is not possible: ${reason}`, { param: 'preopens' });
}

/** A changed row of the server makes every kernel read it again, with the grant, before its next decision. */
function restartOf(batch: LedgerBatch, { tenant, subject }: Granting, nowMs: number): Change[] {
  if ('tool' in subject) return [];
  const key = serverKey(tenant, subject.server_id);
  const server = batch.rows(mcpServers, tenant).find((row) => row.key === key);
  if (server?.transport !== 'stdio')
    throw new AppError(
      'NOT_FOUND',
      'The tenant has no MCP server of this name that is started by a command. Add it first.',
      {
        param: 'subject',
      },
    );
  return [put(mcpServers, { ...server, updatedAtMs: Math.max(nowMs, server.updatedAtMs + 1) })];
}
