import { createBasicEvidence } from '@countersign/contracts/commercial-gateway';
import { createEvidenceHandle } from '@countersign/contracts/control-plane';
import { headersOf, passedOn } from '../../basic/answer-as-caller.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';

export const createBasicEvidenceRoute = (context: Pick<Context, 'asCaller'>) =>
  handleWorkspace(createBasicEvidence, { idempotency: 'handler' })(({ body, caller, req, idempotency }) => {
    const client = context.asCaller(caller.delegation, { createEvidenceHandle });
    const headers = headersOf({ req, idempotency }, caller);
    return passedOn(() => client.createEvidenceHandle({ body, headers }));
  });
