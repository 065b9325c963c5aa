import { z } from 'zod';

/** Loose on purpose: an id that cannot exist is answered like one that does not, with the same 404. */
export const OfWorkspace = z.strictObject({ id: z.string().min(1).max(128) });
