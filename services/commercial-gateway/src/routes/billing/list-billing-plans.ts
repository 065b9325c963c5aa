import { listBillingPlans } from '@countersign/contracts/commercial-gateway';
import { offeredPlans } from '../../billing/offered-plans.ts';
import { handlePerson } from '../../handle.ts';

export const listBillingPlansRoute = () => handlePerson(listBillingPlans)(() => ({ data: offeredPlans() }));
