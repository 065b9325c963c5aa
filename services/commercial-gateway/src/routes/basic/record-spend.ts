import { recordSpend } from '@countersign/contracts/commercial-gateway';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import * as spend from '../../spend/record-spend.ts';

export const recordSpendRoute = (context: Context) =>
  handleWorkspace(recordSpend)(({ body, caller, requestId }) =>
    spend.recordSpend(context, body, { caller, requestId }),
  );
