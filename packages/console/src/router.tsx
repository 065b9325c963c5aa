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

/** Whoever holds a link to it is no user of this installation, so nobody is asked who they are. */
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

/** What opens on a page is an address below it. The page stays as it is meanwhile: how far it was scrolled, and what has the focus. */
const pageRoutes = pages.map(({ path, component }) => {
  const page = createRoute({ getParentRoute: () => shellRoute, path: `/${path}`, component });
  return page.addChildren([createRoute({ getParentRoute: () => page, path: '$id' })]);
});

/** Where the address leads that a program shows (RFC 8628); nobody goes there without one. */
const deviceRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/device',
  component: lazyRouteComponent(() => import('./device/device-page.tsx'), 'DevicePage'),
});

export function createConsoleRouter(queries: QueryClient) {
  return createRouter({
    routeTree: rootRoute.addChildren([
      startRoute,
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
