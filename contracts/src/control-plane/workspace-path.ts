import { z } from 'zod';

/** Accepts any text, so that an impossible id gets the same 404 as an unknown one. */
export const OfWorkspace = z.strictObject({ id: z.string().min(1).max(128) });
