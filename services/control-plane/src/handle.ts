import { createHandle } from '@countersign/service-kit';
import type { PersonCaller, Renewing, SiblingCaller } from './guards.ts';

/** Routes of a person who is signed in. */
export const handlePerson = createHandle<PersonCaller>('session');

/** The route that renews a session by its refresh cookie. */
export const handleRenewal = createHandle<Renewing>('session');

/** Routes that other services of ours call. */
export const handleSibling = createHandle<SiblingCaller>('service_internal');
