import { QueryCache, QueryClient, queryOptions } from '@tanstack/react-query';
import { isAppError } from '@countersign/contracts';
import { person } from './clients.ts';
import { isSignedOut } from './problem.ts';

/**
 * The time for which read data counts as fresh: long enough to avoid a second request, short enough to avoid acts on
 * old data.
 */
const freshForMs = 2_000;
const retriesMax = 1;

/** `signedOut` is told when the session turns out to be over. */
export function createQueries(signedOut: () => void): QueryClient {
  const told = (error: unknown) => {
    if (isSignedOut(error)) signedOut();
  };
  return new QueryClient({
    // Who is signed in is asked before a page is shown, and answered there.
    queryCache: new QueryCache({ onError: (error, { queryKey }) => queryKey !== meQuery.queryKey && told(error) }),
    defaultOptions: {
      // A request that cannot be sent fails at once: kept until there is a network, it would run when it is no longer
      // wanted.
      queries: {
        networkMode: 'always',
        staleTime: freshForMs,
        retry: (failures, error) => failures < retriesMax && isAppError(error) && error.status >= 500,
      },
      mutations: { networkMode: 'always', onError: told },
    },
  });
}

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: async ({ signal }) => (await person.getMe({ signal })).body,
  staleTime: 60_000,
});

/** Invites to the address of the person. */
export const invitesToMeQuery = queryOptions({
  queryKey: ['invites-to-me'],
  queryFn: async ({ signal }) => (await person.listInvitesToMe({ signal })).body.data,
});

/** The sign-ins of the person: this browser, others, programs, passkeys. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }) => (await person.getSession({ signal })).body,
});

/** The identity providers that sign people in here. */
export const providersQuery = queryOptions({
  queryKey: ['providers'],
  queryFn: async ({ signal }) => (await person.listOidcConnections({ signal })).body.data,
  staleTime: 60_000,
});
