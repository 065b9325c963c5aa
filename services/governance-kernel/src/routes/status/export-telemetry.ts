import { instantOf, AppError, type ReceiptId, TelemetryExportId, type TenantId } from '@countersign/contracts';
import { exportTelemetry, type TelemetryDelivery } from '@countersign/contracts/governance-kernel';
import { shownAddress } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { handleSystem } from '../../handle.ts';
import { toldReceipt } from '../../decision/told-receipt.ts';
import { findReceipts } from '../../store/receipt-store.ts';

type Exporting = Pick<Context, 'telemetry' | 'reader' | 'clock' | 'newUlid'>;

/** Exports sealed entries to a collector, and returns the collector's result. No decision depends on it. */
export const exportTelemetryRoute = (kernel: Exporting) =>
  handleSystem(exportTelemetry)(async ({ body: { format, tenant_id: tenant, receipt_ids: ids } }) => {
    const { telemetry, clock, newUlid } = kernel;
    const { collector, resource } = telemetry;
    const now = clock();
    const receipts = tenant === undefined ? [] : await receiptsNamed(kernel, { tenant, ids });
    const delivered = (await telemetry.exportNow?.(receipts.map(toldReceipt))) ?? notConfigured;
    return {
      export_id: TelemetryExportId.parse(`tlx_${newUlid(now.getTime())}`),
      format,
      authoritative: false,
      exported: [delivered.traces, delivered.metrics].every(({ state }) => state === 'sent' || state === 'nothing'),
      endpoint: collector === null ? null : shownAddress(collector.url),
      ...delivered,
      attributes: resource,
      exported_at: instantOf(now),
    };
  });

const notConfigured: Record<'traces' | 'metrics', TelemetryDelivery> = {
  traces: { state: 'not_configured' },
  metrics: { state: 'not_configured' },
};

async function receiptsNamed({ reader }: Exporting, { tenant, ids }: { tenant: TenantId; ids: ReceiptId[] }) {
  const found = await findReceipts(reader, tenant, ids);
  if (found.length === ids.length) return found;
  throw new AppError('NOT_FOUND', 'The tenant does not have all of these receipts', { param: 'receipt_ids' });
}
