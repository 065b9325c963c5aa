import { createSupportReport } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { makeSupportReport } from '../../support/make-support-report.ts';

export const createSupportReportRoute = (context: Context) =>
  handleWorkspace(createSupportReport)(({ body, caller }) => makeSupportReport(context, body.request_id, caller));
