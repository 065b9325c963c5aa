import { createClient } from '@countersign/contracts';
import {
  getPublicApproval,
  getPublicReceipt,
  getPublicReplay,
  getSigningKey,
} from '@countersign/contracts/control-plane';

/** Asks as a stranger: a session of this browser is not sent along. */
export const proofClient = createClient(
  { getPublicReceipt, getPublicApproval, getPublicReplay, getSigningKey },
  {
    baseUrl: location.origin,
    fetch: (input, init) => fetch(input, { ...init, credentials: 'omit' }),
  },
);
