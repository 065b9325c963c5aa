import { AppError, type Digest, type ManifestId, type ReceiptId, type TenantId } from '@countersign/contracts';
import {
  evidenceEnvelopes,
  type EnvelopeRow,
  type EvidenceKeyRow,
  type NativeSource,
} from '../controls/evidence/evidence-envelopes.ts';
import type { Reader, Tx } from './database.ts';
import { findByHash } from './graph-store.ts';
import { pageOf, pageStart, type Page, type PageRequest } from './page.ts';
import { findReceipt } from './receipt-store.ts';
import { asStored } from './stored-row.ts';

/** A key ends this long after its successor begins (ADR 118). */
const overlapMs = 80_000;

/** Newest first. */
export async function listEnvelopes<Item>(
  reader: Reader,
  tenant: TenantId,
  { page, item }: { page: PageRequest; item: (row: EnvelopeRow) => Item },
): Promise<Page<Item>> {
  const behind = pageStart(page, /^env_[0-9A-HJKMNP-TV-Z]{26}$/);
  const rows = await reader.evidenceEnvelope.findMany({
    where: { tenant_id: tenant, ...(behind === null ? {} : { manifest_id: { lt: behind } }) },
    orderBy: { manifest_id: 'desc' },
    take: page.limit + 1,
  });
  const found = rows.map((row) => evidenceEnvelopes.rowOf(asStored(row)));
  return pageOf(found, page.limit, { item, key: ({ id }) => id });
}

/** Throws NOT_FOUND. */
export async function getEnvelope(reader: Reader, tenant: TenantId, id: ManifestId): Promise<EnvelopeRow> {
  const row = await reader.evidenceEnvelope.findFirst({ where: { tenant_id: tenant, manifest_id: id } });
  if (row === null)
    throw new AppError('NOT_FOUND', 'The tenant has no envelope with this ID', { param: 'manifest_id' });
  return evidenceEnvelopes.rowOf(asStored(row));
}

/** Stores the hash of an exported pack. No receipt contains it, since the end statement is part of the pack. */
export async function recordExport(
  tx: Tx,
  { tenant, hash, receiptId, now }: { tenant: TenantId; hash: Digest; receiptId: ReceiptId; now: Date },
): Promise<void> {
  const data = [{ tenant_id: tenant, evidence_hash: hash, receipt_id: receiptId, exported_at: now }];
  await tx.evidenceExport.createMany({ data, skipDuplicates: true });
}

/** The tenant's evidence with this hash: an exported pack or a receipt. */
export async function findNative(reader: Reader, tenant: TenantId, hash: Digest): Promise<NativeSource | null> {
  const exported = await reader.evidenceExport.findFirst({ where: { tenant_id: tenant, evidence_hash: hash } });
  if (exported !== null) {
    const receipt = await findReceipt(reader, tenant, exported.receipt_id as ReceiptId); // as recordExport wrote it
    return receipt && { kind: 'pack', receipt };
  }
  const found = await findByHash(reader, tenant, hash);
  return found && { kind: 'receipt', receipt: found.receipt };
}

type EvidenceKeyPart = { keyId: string; publicKey: Uint8Array };

/** Publishes the evidence keys of this kernel. A known key keeps its start. */
export async function recordEvidenceKeys(
  tx: Tx,
  signer: Readonly<Record<EvidenceKeyRow['alg'], EvidenceKeyPart>>,
  now: Date,
): Promise<void> {
  const data = (['ES256', 'EdDSA'] as const).map((alg) => ({
    ...{ key_id: signer[alg].keyId, public_key: Uint8Array.from(signer[alg].publicKey), alg },
    valid_from: new Date(now.getTime() - overlapMs / 2),
  }));
  await tx.evidenceKey.createMany({ data, skipDuplicates: true });
}

/** Lists the keys that kernels published. Each ends after the next one of its algorithm begins. */
export async function listEvidenceKeys(reader: Reader): Promise<EvidenceKeyRow[]> {
  const rows = await reader.evidenceKey.findMany({ orderBy: [{ valid_from: 'asc' }, { key_id: 'asc' }] });
  return rows.map((row, index) => {
    const next = rows.slice(index + 1).find(({ alg }) => alg === row.alg);
    return {
      ...{ key_id: row.key_id, public_key: Uint8Array.from(row.public_key), valid_from: row.valid_from },
      alg: row.alg as EvidenceKeyRow['alg'], // a constraint of the table lists the algorithms
      valid_until: next === undefined ? null : new Date(next.valid_from.getTime() + overlapMs),
      revoked_at: null,
    };
  });
}
