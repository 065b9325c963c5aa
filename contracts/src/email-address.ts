import { z } from 'zod';

/** Addresses are compared in lower case. 254 characters is the limit of SMTP (RFC 5321 §4.5.3.1.3). */
export const EmailAddress = z
  .string()
  .max(254)
  .trim()
  .toLowerCase()
  .pipe(z.email({ error: 'must be an e-mail address' }));

/** The domain of an address, such as `example.org`. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1);
}
