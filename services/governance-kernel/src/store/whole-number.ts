import { z } from 'zod';

/** A bigint column as a number; beyond 2^53 it would count wrongly, and throws. */
export const WholeNumber = z.bigint().transform(Number).pipe(z.int());
