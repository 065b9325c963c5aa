import { createEvidenceHandle } from '@countersign/contracts/control-plane';
import type { Context } from '../context.ts';
import { handleWorkspace } from '../handle.ts';
import { handleView } from '../handles/handle-view.ts';
import { makeHandle } from '../handles/make-handle.ts';

export const createEvidenceHandleRoute = (context: Context) =>
  handleWorkspace(createEvidenceHandle)(async ({ body, caller, requestId }) =>
    handleView(context, await makeHandle(context, body, { caller, requestId })),
  );
