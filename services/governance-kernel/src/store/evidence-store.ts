import type { Digest, TenantId } from '@countersign/contracts';
import { packAction, type EvidenceScope } from '@countersign/contracts/governance-kernel';
import { z } from 'zod';
import { Prisma as Sql } from '../generated/prisma/client.ts';
import { linkColumnsSql, linkOf, type ChainLink } from './chain-link.ts';
import type { Reader } from './database.ts';
import { signedBySql, type Signed } from './signed-by.ts';
import { WholeNumber } from './whole-number.ts';

/** The receipts of a scope between two leaves. They never change, since the log only grows. */
export type EvidenceRange = EvidenceScope & { first: number; last: number };

export type EvidenceReads = ReturnType<typeof evidenceReads>;

/** The reads for a pack. */
export function evidenceReads(reader: Reader) {
  return {
    count: (scope: EvidenceScope, most: number) => countEvidence(reader, scope, most),
    list: (range: EvidenceRange, page: { after: number; limit: number }) => listEvidence(reader, range, page),
    hasSigned: (range: EvidenceRange, signed: Signed) => hasSignedOfEvidence(reader, range, signed),
    findLastLeaf: (tenant: TenantId) => findLastLeaf(reader, tenant),
    findLastLeafOf: (tenant: TenantId, sessions: string[]) => findLastLeafOf(reader, tenant, sessions),
    findStatement: (tenant: TenantId, named: Parameters<typeof findStatement>[2]) =>
      findStatement(reader, tenant, named),
    findActivation: (named: Parameters<typeof findActivation>[1]) => findActivation(reader, named),
  };
}

const Bounds = z.tuple([z.object({ found: WholeNumber, first: WholeNumber.nullable(), last: WholeNumber.nullable() })]);

/** The number of receipts, counted up to `most`, and their first and last leaf. */
async function countEvidence(
  reader: Reader,
  scope: EvidenceScope,
  most: number,
): Promise<{ receipts: number; first: number | null; last: number | null }> {
  const rows = await reader.$queryRaw`
    SELECT count(*) AS found, min(log_index) AS first, max(log_index) AS last
      FROM (SELECT log_index FROM ledger WHERE ${within(scope)} LIMIT ${most}) AS counted`;
  const [{ found, first, last }] = Bounds.parse(rows);
  return { receipts: found, first, last };
}

/**
 * The next links in the order of the log. Sessions are read separately, so a page costs at most one page per session.
 */
async function listEvidence(
  reader: Reader,
  range: EvidenceRange,
  { after, limit }: { after: number; limit: number },
): Promise<ChainLink[]> {
  const next = Sql.sql`log_index > ${after} AND log_index <= ${range.last}`;
  // matches the index, and no other order would use it
  const page = Sql.sql`ORDER BY log_index NULLS FIRST LIMIT ${limit}`;
  const rows =
    range.sessions === null
      ? reader.$queryRaw`SELECT ${linkColumnsSql} FROM ledger WHERE ${within(range)} AND ${next} ${page}`
      : reader.$queryRaw`
          SELECT link.* FROM unnest(${range.sessions}::text[]) AS wanted (session)
           CROSS JOIN LATERAL (SELECT ${linkColumnsSql} FROM ledger
            WHERE tenant_id = ${range.tenant_id} AND session_id = wanted.session AND ${next} ${page}) AS link ${page}`;
  return z
    .array(z.unknown())
    .parse(await rows)
    .map(linkOf);
}

/** Whether the range contains a signature of the key. */
async function hasSignedOfEvidence(reader: Reader, range: EvidenceRange, signed: Signed): Promise<boolean> {
  const rows = await reader.$queryRaw<unknown[]>`
    SELECT 1 FROM ledger WHERE ${within(range)} AND log_index BETWEEN ${range.first} AND ${range.last}
       AND ${signedBySql(signed)} LIMIT 1`;
  return rows.length > 0;
}

/** The last leaf of the tenant that is not an end statement, since end statements cover earlier leaves. */
async function findLastLeaf(reader: Reader, tenant: TenantId): Promise<number | null> {
  const rows = await reader.$queryRaw`
    SELECT log_index FROM ledger WHERE tenant_id = ${tenant} AND action <> ${packAction} ORDER BY log_index DESC NULLS LAST LIMIT 1`;
  const [row] = z.array(z.object({ log_index: WholeNumber })).parse(rows);
  return row?.log_index ?? null;
}

/** The last leaf of these sessions. */
async function findLastLeafOf(reader: Reader, tenant: TenantId, sessions: string[]): Promise<number | null> {
  const rows = await reader.$queryRaw`
    SELECT max(last.log_index) AS log_index FROM unnest(${sessions}::text[]) AS wanted (session)
     CROSS JOIN LATERAL (SELECT log_index FROM ledger WHERE tenant_id = ${tenant} AND session_id = wanted.session
                          ORDER BY log_index DESC NULLS LAST LIMIT 1) AS last`;
  const [row] = z.tuple([z.object({ log_index: WholeNumber.nullable() })]).parse(rows);
  return row.log_index;
}

/**
 * The first end statement with this hash of its facts, or this resource. Only the kernel seals in sessions whose names
 * begin with `heads:`.
 */
async function findStatement(
  reader: Reader,
  tenant: TenantId,
  named: { args_hash: Digest } | { resource: string },
): Promise<ChainLink | null> {
  const [member] = Object.entries(named).map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  const rows = await reader.$queryRaw`
    SELECT ${linkColumnsSql} FROM ledger
     WHERE tenant_id = ${tenant} AND action = ${packAction} AND session_id LIKE 'heads:%'
       AND strpos(payload, ${member}) > 0 ORDER BY log_index NULLS FIRST LIMIT 1`;
  const [row] = z.array(z.unknown()).parse(rows);
  return row === undefined ? null : linkOf(row);
}

export type ActivationRow = {
  tenant_id: string;
  epoch: number;
  policy_hash: string;
  bundle: string;
  key_id: string;
  signature: string;
  activated_at: Date;
};

/** The activation that this tenant's decisions refer to by hash and epoch: the tenant's own, or one for all tenants. */
async function findActivation(
  reader: Reader,
  { tenant, policyHash, epoch, at }: { tenant: TenantId; policyHash: string; epoch: number; at: Date },
): Promise<ActivationRow | null> {
  const rows = await reader.policyBundle.findMany({
    where: { tenant_id: { in: [tenant, '*'] }, epoch, policy_hash: policyHash },
    orderBy: { tenant_id: 'desc' },
  });
  // The tenant's own row comes first. If it was activated only after the decision, the decision used an equal bundle of
  // the installation.
  return rows.find(({ activated_at }) => activated_at < at) ?? rows.at(-1) ?? null;
}

function within({ tenant_id, leaves, sessions, issued }: EvidenceScope): Sql.Sql {
  const ofSessions = sessions === null ? Sql.empty : Sql.sql`AND session_id = ANY (${sessions}::text[])`;
  const inPeriod =
    issued === null
      ? Sql.empty
      : Sql.sql`AND issued_at >= ${issued.from}::timestamptz AND issued_at < ${issued.to}::timestamptz`;
  return Sql.sql`tenant_id = ${tenant_id} AND log_index >= ${leaves.from} AND log_index < ${leaves.to} ${ofSessions} ${inPeriod}`;
}
