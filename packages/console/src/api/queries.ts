import { QueryCache, QueryClient, queryOptions } from '@tanstack/react-query';
import { isAppError } from '@countersign/contracts';
import { person } from './clients.ts';
import { isSignedOut } from './problem.ts';

/**
 * How long read data counts as fresh. A shorter time repeats requests, and a longer time lets people act on old data.
 */
const freshForMs = 2_000;
const retriesMax = 1;

/** Calls `signedOut` when a request shows that the session is over. */
export function createQueries(signedOut: () => void): QueryClient {
  const report = (error: unknown) => {
    if (isSignedOut(error)) signedOut();
  };
  return new QueryClient({
    // The router reads `meQuery` before it shows a page, and handles its failure. All other failures are reported here.
    queryCache: new QueryCache({ onError: (error, { queryKey }) => queryKey !== meQuery.queryKey && report(error) }),
    defaultOptions: {
      // A request that cannot be sent fails at once. If it waited for the network, it would run when it is no longer
      // wanted.
      queries: {
        networkMode: 'always',
        staleTime: freshForMs,
        retry: (failures, error) => failures < retriesMax && isAppError(error) && error.status >= 500,
      },
      mutations: { networkMode: 'always', onError: report },
    },
  });
}

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: async ({ signal }) => (await person.getMe({ signal })).body,
  staleTime: 60_000,
});

/** Invites that were sent to the address of the person. */
export const invitesToMeQuery = queryOptions({
  queryKey: ['invites-to-me'],
  queryFn: async ({ signal }) => (await person.listInvitesToMe({ signal })).body.data,
});

/** The sign-ins of the person: this browser, other browsers, programs and passkeys. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }) => (await person.getSession({ signal })).body,
});

/** The identity providers that people can sign in with. */
export const providersQuery = queryOptions({
  queryKey: ['providers'],
  queryFn: async ({ signal }) => (await person.listOidcConnections({ signal })).body.data,
  staleTime: 60_000,
});
