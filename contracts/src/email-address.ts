import { z } from 'zod';

/** An address is compared in lower case; 254 is the longest that SMTP can carry (RFC 5321 §4.5.3.1.3). */
export const EmailAddress = z
  .string()
  .max(254)
  .trim()
  .toLowerCase()
  .pipe(z.email({ error: 'must be an e-mail address' }));
