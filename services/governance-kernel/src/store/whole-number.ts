import { z } from 'zod';

/** A bigint column as a number. Throws above 2^53, where numbers are inexact. */
export const WholeNumber = z.bigint().transform(Number).pipe(z.int());
