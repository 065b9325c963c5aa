import { createBasicBlastRadius } from '@countersign/contracts/commercial-gateway';
import { createBlastRadius } from '@countersign/contracts/control-plane';
import { headersOf, passedOn } from '../../basic/answer-as-caller.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';

export const createBasicBlastRadiusRoute = (context: Pick<Context, 'asCaller'>) =>
  handleWorkspace(createBasicBlastRadius)(({ body, caller, req, idempotency }) => {
    const client = context.asCaller(caller.delegation, { createBlastRadius });
    const headers = headersOf({ req, idempotency }, caller);
    return passedOn(() => client.createBlastRadius({ body, headers }));
  });
