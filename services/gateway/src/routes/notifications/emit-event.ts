import * as contract from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { emitEvent } from '../../notifications/emit-event.ts';
import { eventView } from '../../notifications/views.ts';

export const emitEventRoute = (context: Context) =>
  handleWorkspace(contract.emitEvent)(async ({ body: { type, dedupeKey, data }, caller, requestId }) =>
    eventView(await emitEvent(context, { type, dedupeKey, data }, { caller, requestId })),
  );
