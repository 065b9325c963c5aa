import { z } from 'zod';

export const SubscriptionStatus = z.enum(['incomplete', 'trialing', 'active', 'past_due', 'unpaid', 'canceled']);
export type SubscriptionStatus = z.infer<typeof SubscriptionStatus>;
