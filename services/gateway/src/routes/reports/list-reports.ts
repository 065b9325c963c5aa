import { listReports } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { reportReachOf } from '../../reports/report-reach.ts';
import { listReportsOf } from '../../store/reports.ts';

export const listReportsRoute = ({ database }: Context) =>
  handleWorkspace(listReports)(({ caller, query }) => listReportsOf(database.reader, reportReachOf(caller), query));
