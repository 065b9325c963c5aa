import { getOtelConfig } from '@countersign/contracts/governance-kernel';
import { shownAddress } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';

export const getOtelConfigRoute = ({ telemetry }: Pick<Context, 'telemetry'>) =>
  handleTenant(getOtelConfig)(() => {
    const { collector, resource } = telemetry;
    return {
      service_name: String(resource['service.name']),
      signal_type: 'otel',
      authoritative: false,
      exporting: collector !== null,
      endpoint: collector === null ? null : shownAddress(collector.url),
      header_names: collector === null ? [] : Object.keys(collector.headers),
      exported_signals: collector === null ? [] : ['traces', 'metrics'],
      span_attributes: resource,
    };
  });
