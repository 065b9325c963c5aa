import { createClient, type Client, type WorkspaceId } from '@countersign/contracts';
import { personRoutes, workspaceRoutes } from './routes.ts';
import { createSessionFetch } from './session-fetch.ts';
import { withKeys } from './with-keys.ts';
import { withPresence } from './with-presence.ts';

export type WorkspaceClient = Client<typeof workspaceRoutes>;

const session = createSessionFetch(
  (input, init) => fetch(input, init),
  () => location.reload(),
);
const options = { baseUrl: location.origin, fetch: session.send };

export const person: Client<typeof personRoutes> = withPresence(
  withKeys(personRoutes, createClient(personRoutes, options)),
);

/** The token of the page belongs to one session; whoever signs in or out calls this. */
export const forgetSession = session.forget;
export const pageIsFor = session.isFor;

export function clientOf(workspaceId: WorkspaceId): WorkspaceClient {
  const headers = () => ({ 'x-workspace-id': workspaceId });
  return withPresence(withKeys(workspaceRoutes, createClient(workspaceRoutes, { ...options, headers })));
}
