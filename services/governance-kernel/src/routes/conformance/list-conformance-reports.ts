import { listConformanceReports } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleSystem } from '../../handle.ts';
import { pageOf } from '../../evidence/receipts/page.ts';
import { listReports } from '../../store/conformance-store.ts';

export const listConformanceReportsRoute = ({ reader, provider }: Context) =>
  handleSystem(listConformanceReports)(async ({ query: { limit, cursor } }) => {
    const scope = { list: 'conformance-reports', tenant: 'system' } as const;
    const page = await pageOf(
      provider,
      scope,
      { limit, cursor },
      {
        load: (wanted) => listReports(reader, wanted),
        placeOf: ({ position }) => position,
      },
    );
    return { ...page, data: page.data.map(({ summary }) => summary) };
  });
