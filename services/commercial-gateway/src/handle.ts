import { createHandle } from '@countersign/service-kit';
import type { PersonCaller, SiblingCaller } from './guards.ts';

/** Routes of a person who is signed in. */
export const handlePerson = createHandle<PersonCaller>('session');

/** Routes of people who administer the installation. */
export const handleAdmin = createHandle<PersonCaller>('commercial_admin');

/** Routes of sibling services. */
export const handleSibling = createHandle<SiblingCaller>('service_internal');
