import { instantOf, ReceiptId, WorkspaceId } from '@countersign/contracts';
import type { BilledEvent, Meter } from '@countersign/contracts/commercial-gateway';
import { z } from 'zod';
import { decimalOfMicros } from '../metering/micros.ts';
import { receiptSources } from '../metering/usage-event.ts';
import { listBilledEvents } from '../store/billed-usage.ts';
import type { Reader } from '../store/database.ts';
import type { StoredInvoice } from '../store/invoices.ts';
import { pageOf, readCursor, type PageOf } from '../store/page-cursor.ts';

const Sequence = z
  .string()
  .regex(/^(0|[1-9]\d{0,17})$/)
  .transform(BigInt);

const sourcesOfReceipts: ReadonlySet<string> = new Set(Object.values(receiptSources));

/**
 * Returns a page of the usage events that a usage line bills. Over all pages, their quantities add up to the quantity
 * of the line.
 */
export async function listLineEvents(
  reader: Reader,
  invoice: StoredInvoice,
  { meter, limit, cursor }: PageOf & { meter: Meter },
): Promise<{ data: BilledEvent[]; next_cursor: string | null }> {
  const afterSeq = readCursor(cursor, Sequence) ?? 0n;
  const page = { bounds: invoice, meter, afterSeq, limit: limit + 1 };
  const found = await listBilledEvents(reader, invoice.orgId, page);
  const { rows, nextCursor } = pageOf(found, limit, ({ seq }) => String(seq));
  const data = rows.map(({ source, id, workspaceId, quantityMicros, occurredAt }) => ({
    ...{ source, id, receipt_id: sourcesOfReceipts.has(source) ? ReceiptId.parse(id) : null },
    workspace_id: workspaceId === null ? null : WorkspaceId.parse(workspaceId),
    ...{ quantity: decimalOfMicros(quantityMicros), occurred_at: instantOf(occurredAt) },
  }));
  return { data, next_cursor: nextCursor };
}
