import { getReport } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { notFound } from '../../not-found.ts';
import { handleWorkspace } from '../../handle.ts';
import { personOutsideOf, reportReachOf } from '../../reports/report-reach.ts';
import { reportText } from '../../reports/report-text.ts';
import { findReport } from '../../store/reports.ts';

export const getReportRoute = ({ database }: Context) =>
  handleWorkspace(getReport)(async ({ params, caller }) => {
    const report = await findReport(database.reader, {
      ...reportReachOf(caller),
      requestId: params.requestId,
      personId: personOutsideOf(caller),
    });
    if (report === null) throw notFound();
    return { ...report, text: reportText(report) };
  });
