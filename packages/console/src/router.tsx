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
import { SignInPage } from './sign-in/sign-in-page.tsx';

const RootSearch = z.looseObject({ workspace: z.string().optional().catch(undefined) });
/** `link`: a provider has sent the browser back, and a code is to say whose its identity is. */
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
  component: SignInPage,
});

/** The holder of a link to it is no user of this installation, so there is no sign-in. */
const proofRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/p/$handle',
  component: lazyRouteComponent(() => import('./proof/proof-page.tsx'), 'ProofPage'),
});

/** Who is signed in; everybody else signs in first, and comes back. */
async function requirePerson(queries: QueryClient, back: string): Promise<void> {
  const { user } = await queries.ensureQueryData(meQuery).catch((error: unknown) => {
    if (isSignedOut(error)) redirect({ to: '/sign-in', search: { back }, replace: true, throw: true });
    throw error;
  });
  pageIsFor(user.id);
}

/** Outside of the shell, since an invited person may be in no workspace yet. */
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

/** A panel on a page is an address below it. The page keeps its scroll position and its focus. */
const pageRoutes = pages.map(({ path, component }) => {
  const page = createRoute({ getParentRoute: () => shellRoute, path: `/${path}`, component });
  return page.addChildren([createRoute({ getParentRoute: () => page, path: '$id' })]);
});

/** Pages with a new name. A link that was kept under the old one still leads there. */
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

/** The target of the address that a program shows (RFC 8628); it is not reached without one. */
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
