import { createHandle, type Handle } from '@countersign/service-kit';
import type { KeyedCaller, PersonCaller, Renewing, SiblingCaller, WorkspaceCaller } from './guards.ts';

/** Routes of a person who is signed in. */
export const handlePerson = createHandle<PersonCaller>('session');

const handleInWorkspace = createHandle<WorkspaceCaller>('session');

/** Routes of one workspace. Each declares its least role, and the guard enforces it for every caller. */
export const handleWorkspace: Handle<WorkspaceCaller> = (route, options) => {
  if (route.leastRole === undefined) throw new Error(`${route.operation} states no leastRole`);
  if (route.keyScopes !== undefined) throw new Error(`${route.operation} opens to API keys: use handleKeyed`);
  return handleInWorkspace(route, options);
};

const handleKeys = createHandle<KeyedCaller>('session');

/** Routes of one workspace that API keys may use too. */
export const handleKeyed: Handle<KeyedCaller> = (route, options) => {
  if (route.leastRole === undefined || route.keyScopes === undefined)
    throw new Error(`${route.operation} states no leastRole or no keyScopes`);
  return handleKeys(route, options);
};

/** The route that renews a session by its refresh cookie. */
export const handleRenewal = createHandle<Renewing>('session');

/** Routes that other services of this installation call. */
export const handleSibling = createHandle<SiblingCaller>('service_internal');
