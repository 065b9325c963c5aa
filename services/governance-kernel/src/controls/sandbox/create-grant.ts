import { instantOf, AppError, type PrincipalId, SandboxGrantId, type TenantId } from '@countersign/contracts';
import type { SandboxSubject, SandboxTerms } from '@countersign/contracts/governance-kernel';
import { parsePlainJson } from '@countersign/crypto';
import { receiptIdOf } from '@countersign/receipts';
import type { LedgerBatch } from '../../ledger/batch.ts';
import { put, wanted, type Change } from '../../ledger/control.ts';
import { ownSession } from '../../ledger/own-sessions.ts';
import { settingStatement, type SettingDeps } from '../policy/setting-statement.ts';
import { mcpServers, serverKey, type McpServerRow } from '../../registry/mcp-servers.ts';
import { unusablePreopen } from './bubblewrap.ts';
import { grantHash } from './grant-hash.ts';
import { sandboxGrants, subjectText, type SandboxGrantRow } from './sandbox-grants.ts';

/** The limit of grants per tenant. Every decision about a tool reads all grants of the tenant. */
const subjectsMax = 200;

type Granting = {
  tenant: TenantId;
  by: PrincipalId;
  subject: SandboxSubject;
  terms: SandboxTerms;
  expiresInMs: number;
};

/**
 * Grants terms to a subject and seals the grant. It replaces an earlier grant of the subject, and a running server is
 * restarted under the new grant. Throws INVALID_REQUEST, LIMIT_REACHED, and NOT_FOUND for a server that is not a
 * command of the tenant.
 */
export async function createGrant(deps: SettingDeps, granting: Granting): Promise<SandboxGrantRow> {
  const { tenant, by, terms, expiresInMs } = granting;
  requireMountable(terms);
  const subject = subjectText(granting.subject);
  const hash = grantHash(deps.provider, terms);
  const chain = { tenant, session: ownSession('mcp-registry') };
  const beganMs = deps.clock().getTime();
  return await deps.ledger.submit({
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
      const server = grantedServer(batch, granting);
      const configHash = server?.configHash ?? null;
      const expiresAtMs = nowMs + expiresInMs;
      const id = SandboxGrantId.parse(`sbx_${deps.newUlid(nowMs)}`);
      const granted = { subject, grant_hash: hash, config_hash: configHash, expires_at: instantOf(expiresAtMs) };
      const setting = { ...granted, terms: parsePlainJson(terms) };
      const statement = settingStatement(deps, {
        ...{ ...chain, by, nowMs, setting, kind: 'registry', action: 'sandbox.grant.create' },
        resource: `sandbox_grant:${id}`,
      });
      const row: SandboxGrantRow = {
        ...{ tenant, subject, id, terms, grantHash: hash, configHash, createdBy: by, createdAtMs: nowMs, expiresAtMs },
        receiptId: receiptIdOf(statement.ulid),
      };
      batch.seal(statement, () => ({ changes: [put(sandboxGrants, row), ...restartOf(server, nowMs)] }));
      return () => row;
    },
  });
}

function requireMountable({ profile, preopens }: SandboxTerms): void {
  const reason = profile === 'bubblewrap' ? preopens.flatMap(({ path }) => unusablePreopen(path) ?? [])[0] : undefined;
  if (reason !== undefined)
    throw new AppError('INVALID_REQUEST', `A preopen is not possible: ${reason}`, { param: 'preopens' });
}

/** The server that is the subject of the grant, with its current configuration. `null` for a tool. */
function grantedServer(batch: LedgerBatch, { tenant, subject }: Granting): McpServerRow | null {
  if ('tool' in subject) return null;
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
  return server;
}

/** Changes the row of the server. Every kernel then reads the server and its grant again before its next decision. */
function restartOf(server: McpServerRow | null, nowMs: number): Change[] {
  if (server === null) return [];
  return [put(mcpServers, { ...server, updatedAtMs: Math.max(nowMs, server.updatedAtMs + 1) })];
}
