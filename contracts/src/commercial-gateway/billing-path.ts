import { z } from 'zod';

/** Loose on purpose: the organisation of another person has the same answer as an unknown one. */
export const TenantPath = { tenant_id: z.string().min(1).max(128) };
