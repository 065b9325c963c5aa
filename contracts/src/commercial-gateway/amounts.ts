import { z } from 'zod';

/** An integer in minor units of its currency, as a string, because JSON numbers are exact only up to 2^53. */
export const MinorUnits = z.string().regex(/^(0|[1-9]\d{0,18})$/, 'must be a whole number without a sign');

/** An integer in minor units with a sign, as a string. In the ledger a debit is positive and a credit is negative. */
export const SignedMinorUnits = z.string().regex(/^(0|-?[1-9]\d{0,18})$/, 'must be a whole number');

/** Units of a meter, as a decimal string with at most 6 decimal places. */
export const Quantity = z
  .string()
  .regex(/^(0|[1-9]\d{0,18})(\.\d{1,6})?$/, 'must be a decimal string with at most 6 decimal places');
