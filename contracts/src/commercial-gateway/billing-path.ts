import { z } from 'zod';

/** Accepts any text, so that an organisation of another person gets the same answer as an unknown one. */
export const TenantPath = { tenant_id: z.string().min(1).max(128) };
