import type { PrincipalId, TenantId } from '@countersign/contracts';
import { approvalTerms, type ApprovalTermsRow } from '../controls/voting/approval-terms.ts';
import { passkeys, type PasskeyKey, type PasskeyRow } from '../controls/passkeys/passkeys.ts';
import type { PasskeyModel } from '../generated/prisma/models.ts';
import type { Reader } from './database.ts';
import { pageOf, pageStart, type Page, type PageRequest } from './page.ts';
import { asStored } from './stored-row.ts';

type Owner = { tenant: TenantId; principal: PrincipalId };

export async function findPasskey(reader: Reader, { tenant, id }: PasskeyKey): Promise<PasskeyRow | null> {
  const where = { tenant_id_credential_id: { tenant_id: tenant, credential_id: id } };
  const row = await reader.passkey.findUnique({ where });
  return row === null ? null : passkeys.rowOf(asStored(row));
}

/** Live passkeys of a person, newest first. */
export async function listLivingPasskeys(reader: Reader, { tenant, principal }: Owner, limit: number) {
  const rows = await reader.passkey.findMany({
    where: { tenant_id: tenant, principal_id: principal, revoked_at: null },
    orderBy: { ulid: 'desc' },
    take: limit,
  });
  return rows.map((row) => passkeys.rowOf(asStored(row)));
}

/** Unconfirmed passkeys of all people of a tenant that may still become active, newest first. */
export async function listWaitingPasskeys(
  reader: Reader,
  { tenant, sinceMs, limit }: { tenant: TenantId; sinceMs: number; limit: number },
): Promise<PasskeyRow[]> {
  const rows = await reader.passkey.findMany({
    where: { tenant_id: tenant, activated_at: null, revoked_at: null, created_at: { gt: new Date(sinceMs) } },
    orderBy: { ulid: 'desc' },
    take: limit,
  });
  return rows.map((row) => passkeys.rowOf(asStored(row)));
}

/** Newest first. */
export async function listPasskeys<Item>(
  reader: Reader,
  { tenant, principal }: Owner,
  { page, item }: { page: PageRequest; item: (row: PasskeyRow) => Item },
): Promise<Page<Item>> {
  const before = pageStart(page, /^[0-9A-HJKMNP-TV-Z]{26}$/);
  const rows = await reader.passkey.findMany({
    where: { tenant_id: tenant, principal_id: principal, ...(before === null ? {} : { ulid: { lt: before } }) },
    orderBy: { ulid: 'desc' },
    take: page.limit + 1,
  });
  return pageOf(rows, page.limit, {
    item: (row) => item(passkeys.rowOf(asStored(row))),
    key: ({ ulid }: PasskeyModel) => ulid,
  });
}

export async function findApprovalTerms(reader: Reader, tenant: TenantId): Promise<ApprovalTermsRow | null> {
  const row = await reader.approvalTerms.findUnique({ where: { tenant_id: tenant } });
  return row === null ? null : approvalTerms.rowOf(asStored(row));
}
