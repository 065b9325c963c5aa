import { AppError } from '@countersign/contracts';
import { getConformanceReport } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleSystem } from '../../handle.ts';
import { findReport } from '../../store/conformance-store.ts';

export const getConformanceReportRoute = ({ reader }: Context) =>
  handleSystem(getConformanceReport)(async ({ params: { report_id: id } }) => {
    const report = await findReport(reader, id);
    if (report === null)
      throw new AppError('NOT_FOUND', 'There is no conformance report with this ID', { param: 'report_id' });
    return report;
  });
