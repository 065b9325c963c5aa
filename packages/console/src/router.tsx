import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
  retainSearchParams,
} from '@tanstack/react-router';
import type { QueryClient } from '@tanstack/react-query';
import { z } from 'zod';
import { pageIsFor } from './api/clients.ts';
import { isSignedOut } from './api/problem.ts';
import { meQuery } from './api/queries.ts';
import { NoSuchPage, PageFault } from './shell/page-fault.tsx';
import { pages } from './pages.ts';
import { Shell } from './shell/shell.tsx';

const RootSearch = z.looseObject({ workspace: z.string().optional().catch(undefined) });
/**
 * `link` is set when an identity provider has sent the browser back. A code then proves to which account the provider's
 * identity belongs.
 */
const SignInSearch = z.object({
  back: z.string().optional().catch(undefined),
  link: z.string().optional().catch(undefined),
});

const rootRoute = createRootRouteWithContext<{ queries: QueryClient }>()({
  component: Outlet,
  errorComponent: PageFault,
  notFoundComponent: NoSuchPage,
});

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: SignInSearch,
  component: lazyRouteComponent(() => import('./sign-in/sign-in-page.tsx'), 'SignInPage'),
});

/** The page needs no sign-in, because holders of a public link have no account here. */
const proofRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/p/$handle',
  component: lazyRouteComponent(() => import('./proof/proof-page.tsx'), 'ProofPage'),
});

/** Requires a signed-in person. Other visitors sign in first, and then come back. */
async function requirePerson(queries: QueryClient, back: string): Promise<void> {
  const { user } = await queries.ensureQueryData(meQuery).catch((error: unknown) => {
    if (isSignedOut(error)) redirect({ to: '/sign-in', search: { back }, replace: true, throw: true });
    throw error;
  });
  pageIsFor(user.id);
}

/** The page of an invite. It is outside the shell, because an invited person may have no workspace yet. */
const inviteRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/invite/$id',
  beforeLoad: ({ context: { queries }, location }) => requirePerson(queries, location.href),
  component: lazyRouteComponent(() => import('./invites/invite-page.tsx'), 'InvitePage'),
  errorComponent: PageFault,
});

const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  validateSearch: RootSearch,
  search: { middlewares: [retainSearchParams(['workspace'])] },
  beforeLoad: ({ context: { queries }, location }) => requirePerson(queries, location.href),
  component: Shell,
  errorComponent: PageFault,
});

const startRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  beforeLoad: () => {
    redirect({ to: '/overview', replace: true, throw: true });
  },
});

/**
 * A panel on a page has an address below the address of the page. When the panel opens, the page keeps its scroll
 * position and its focus.
 */
const pageRoutes = pages.map(({ path, component }) => {
  const page = createRoute({ getParentRoute: () => shellRoute, path: `/${path}`, component });
  return page.addChildren([createRoute({ getParentRoute: () => page, path: '$id' })]);
});

/** Renamed pages. Links to the old address still work. */
const movedPages = [
  ['/receipts', '/activity'],
  ['/stops', '/incidents'],
] as const;
const movedRoutes = movedPages.flatMap(([from, to]) =>
  [from, `${from}/$id`].map((path) =>
    createRoute({
      getParentRoute: () => rootRoute,
      path,
      beforeLoad: ({ location, search }) => {
        redirect({ to: location.pathname.replace(from, to), search, replace: true, throw: true });
      },
    }),
  ),
);

/** The page of the address that a program shows (RFC 8628). In the console, only the command palette leads to it. */
const deviceRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/device',
  component: lazyRouteComponent(() => import('./device/device-page.tsx'), 'DevicePage'),
});

export function createConsoleRouter(queries: QueryClient) {
  return createRouter({
    routeTree: rootRoute.addChildren([
      startRoute,
      ...movedRoutes,
      signInRoute,
      proofRoute,
      inviteRoute,
      shellRoute.addChildren([...pageRoutes, deviceRoute]),
    ]),
    basepath: '/console',
    context: { queries },
    defaultPreload: 'intent',
    scrollRestoration: true,
  });
}
