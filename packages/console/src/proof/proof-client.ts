import { createClient } from '@countersign/contracts';
import {
  getPublicApproval,
  getPublicReceipt,
  getPublicReplay,
  getSigningKey,
} from '@countersign/contracts/control-plane';

/** Requests without the session of the browser, like those of a stranger. */
export const proofClient = createClient(
  { getPublicReceipt, getPublicApproval, getPublicReplay, getSigningKey },
  {
    baseUrl: location.origin,
    fetch: (input, init) => fetch(input, { ...init, credentials: 'omit' }),
  },
);
