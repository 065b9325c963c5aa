import { z } from 'zod';

export const InvoiceStatus = z.enum(['draft', 'open', 'paid', 'void', 'uncollectible']);
export type InvoiceStatus = z.infer<typeof InvoiceStatus>;

/** A `promotional` grant reduces revenue. A `purchased` grant was paid in cash. */
export const CreditGrantKind = z.enum(['promotional', 'purchased']);
export type CreditGrantKind = z.infer<typeof CreditGrantKind>;
