import { listBasicEvidence } from '@countersign/contracts/commercial-gateway';
import { listEvidenceHandles } from '@countersign/contracts/control-plane';
import { headersOf, passedOn } from '../../basic/answer-as-caller.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';

export const listBasicEvidenceRoute = (context: Pick<Context, 'asCaller'>) =>
  handleWorkspace(listBasicEvidence)(({ query, caller, req, idempotency }) => {
    const client = context.asCaller(caller.delegation, { listEvidenceHandles });
    const headers = headersOf({ req, idempotency }, caller);
    return passedOn(() => client.listEvidenceHandles({ query, headers }));
  });
