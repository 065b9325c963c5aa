import { createClient, type AnyRoute, type Client, type WorkspaceId } from '@countersign/contracts';
import { personRoutes, workspaceRoutes } from './routes.ts';
import { serverClock } from './server-clock.ts';
import { createSessionFetch } from './session-fetch.ts';
import { withKeys } from './with-keys.ts';
import { withPresence } from './with-presence.ts';

export type WorkspaceClient = Client<typeof workspaceRoutes>;

const session = createSessionFetch(
  serverClock.timed((input, init) => fetch(input, init)),
  () => location.reload(),
);
const options = { baseUrl: location.origin, fetch: session.send };

type Terms = { headers?: () => Record<string, string>; asksPresence?: boolean };

/** Sends one request with the session of the browser. Used for answers that are files. */
export const sendInSession = session.send;

/** A client that uses the session of the browser. */
export function sessionClient<const Routes extends Record<string, AnyRoute>>(
  routes: Routes,
  { asksPresence = true, ...terms }: Terms = {},
): Client<Routes> {
  const calls = withKeys(routes, createClient(routes, { ...options, ...terms }));
  return asksPresence ? withPresence(calls) : calls;
}

export const person: Client<typeof personRoutes> = sessionClient(personRoutes);

/** Forgets the CSRF token of the page, which belongs to one session. Called at each sign-in and sign-out. */
export const forgetSession = session.forget;
export const pageIsFor = session.isFor;

/** A client for one workspace. Each request names the workspace in a header. */
export function workspaceClient<const Routes extends Record<string, AnyRoute>>(
  routes: Routes,
  workspaceId: WorkspaceId,
): Client<Routes> {
  return sessionClient(routes, { headers: () => ({ 'x-workspace-id': workspaceId }) });
}

export function clientOf(workspaceId: WorkspaceId): WorkspaceClient {
  return workspaceClient(workspaceRoutes, workspaceId);
}
