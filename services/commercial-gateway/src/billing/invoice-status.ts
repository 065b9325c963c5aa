import { AppError } from '@countersign/contracts';
import type { InvoiceStatus } from '@countersign/contracts/commercial-gateway';

type InvoiceAction = 'finalize' | 'settle' | 'void' | 'write_off';

const transitions: Readonly<Record<InvoiceAction, { from: InvoiceStatus; to: InvoiceStatus }>> = {
  finalize: { from: 'draft', to: 'open' },
  settle: { from: 'open', to: 'paid' },
  void: { from: 'open', to: 'void' },
  write_off: { from: 'open', to: 'uncollectible' },
};

/** Returns the status after the action. Throws ILLEGAL_TRANSITION when the status does not permit the action. */
export function nextInvoiceStatus(status: InvoiceStatus, action: InvoiceAction): InvoiceStatus {
  const { from, to } = transitions[action];
  if (status === from) return to;
  throw new AppError('ILLEGAL_TRANSITION', `The invoice is ${status}; ${action} requires the status ${from}`, {
    details: { status, allowed_from: [from] },
  });
}
