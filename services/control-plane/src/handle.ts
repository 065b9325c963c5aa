import { createHandle, type Handle } from '@countersign/service-kit';
import type { PersonCaller, Renewing, SiblingCaller, WorkspaceCaller } from './guards.ts';

/** Routes of a person who is signed in. */
export const handlePerson = createHandle<PersonCaller>('session');

const handleInWorkspace = createHandle<WorkspaceCaller>('session');

/** Routes of one workspace: they state the least role there, and the guard holds every caller to it. */
export const handleWorkspace: Handle<WorkspaceCaller> = (route, options) => {
  if (route.leastRole === undefined) throw new Error(`${route.operation} states no leastRole`);
  return handleInWorkspace(route, options);
};

/** The route that renews a session by its refresh cookie. */
export const handleRenewal = createHandle<Renewing>('session');

/** Routes that other services of ours call. */
export const handleSibling = createHandle<SiblingCaller>('service_internal');
