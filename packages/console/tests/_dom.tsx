import './_window.ts';
import { afterEach, expect } from '@jest/globals';
import { MantineProvider } from '@mantine/core';
import { environmentManager, QueryClientProvider } from '@tanstack/react-query';
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from '@tanstack/react-router';
import { configure } from '@testing-library/dom';
import { cleanup, render } from '@testing-library/react';
import { PointerEventsCheckLevel, userEvent } from '@testing-library/user-event';
import type { ReactNode } from 'react';
import type { PersonRole, WorkspaceId } from '@countersign/contracts';
import { getConsoleWorkspace, getSession } from '@countersign/contracts/control-plane';
import { getMe } from '@countersign/contracts/gateway';
import { clientOf, forgetSession } from '../src/api/clients.ts';
import { createQueries } from '../src/api/queries.ts';
import { createConsoleRouter } from '../src/router.tsx';
import { theme } from '../src/theme.ts';
import { WorkspaceContext } from '../src/workspace/open-workspace.ts';
import { ScriptedPeer } from './_scripted-peer.ts';

/** The open workspace, the signed-in person, and the time of all events in these tests. */
export const workspaceId = 'wsp_01ARZ3NDEKTSV4RRFFQ69G5FAV' as WorkspaceId; // in the form that services issue
export const userId = 'usr_01ARZ3NDEKTSV4RRFFQ69G5FAV';
export const at = '2026-11-27T12:00:00.000Z';

// Another test file of the worker may have loaded the query library without a window, as on a server.
environmentManager.setIsServer(() => false);
Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
/** Far more time than a page takes on a slow machine. A failing test ends after it. */
configure({ asyncUtilTimeout: 60_000 });

/** No pause between keys, and no check of pointer events, because styles are not loaded. */
const atOnce = { delay: null, pointerEventsCheck: PointerEventsCheckLevel.Never };

type Opened = { role?: PersonRole; path?: string };
const stages: (() => void)[] = [];

/**
 * A scripted peer with a signed-in person. `show` renders a part of the console in an open workspace. Without `polls`,
 * no page polls, since polled data could pass as the answer to an act.
 */
export function stage({ polls = false } = {}) {
  const peer = new ScriptedPeer();
  peer.answers(getSession, session);
  peer.answers(getMe, me);
  peer.answers(getConsoleWorkspace, members);
  const nodeFetch = globalThis.fetch;
  globalThis.fetch = peer.fetch;
  const queries = createQueries(() => undefined);
  // Failed reads are repeated at once. Acts are not cached, because their timers would keep the worker alive.
  const { queries: reads, mutations: acts } = queries.getDefaultOptions();
  queries.setDefaultOptions({ queries: { ...reads, retryDelay: 0 }, mutations: { ...acts, gcTime: 0 } });
  const optionsOf = queries.defaultQueryOptions.bind(queries);
  if (!polls) queries.defaultQueryOptions = (options) => ({ ...optionsOf(options), refetchInterval: false });
  stages.push(() => {
    queries.clear();
    forgetSession();
    globalThis.fetch = nodeFetch;
    expect(peer.breaches).toEqual([]);
  });
  return { peer, user: userEvent.setup(atOnce), show, openConsole, readAgain: () => queries.invalidateQueries() };

  /** Opens the whole console at a path. */
  function openConsole(path: string): void {
    const before = location.href;
    history.replaceState(null, '', `/console${path}`);
    // The router calls the global `addEventListener`, which Node does not have.
    Object.assign(globalThis, { addEventListener: window.addEventListener.bind(window) });
    stages.push(() => {
      Reflect.deleteProperty(globalThis, 'addEventListener');
      history.replaceState(null, '', before);
    });
    renderAt(createConsoleRouter(queries));
  }

  function renderAt(router: unknown): void {
    render(
      <MantineProvider theme={theme} withCssVariables={false} withGlobalClasses={false}>
        <QueryClientProvider client={queries}>
          <RouterProvider router={router as never} />
        </QueryClientProvider>
      </MantineProvider>,
    );
  }

  function show(piece: ReactNode, { role = 'owner', path = '/' }: Opened = {}): void {
    const workspace = { id: workspaceId, name: 'Vault', role, client: clientOf(workspaceId) };
    const root = createRootRoute();
    const pageAt = (path: string) =>
      createRoute({
        getParentRoute: () => root,
        path,
        component: () => <WorkspaceContext value={workspace}>{piece}</WorkspaceContext>,
      });
    // A page stays mounted, as in the console, when an address below it opens.
    const page = pageAt('$page');
    const below = createRoute({ getParentRoute: () => page, path: '$id' });
    const routeTree = root.addChildren([pageAt('/'), page.addChildren([below])]);
    const entries = createMemoryHistory({ initialEntries: [`/console${path}`] });
    renderAt(createRouter({ routeTree, basepath: '/console', history: entries }));
  }
}

afterEach(() => {
  cleanup();
  // Stages end in reverse order, because each stage restores what it found.
  for (const end of stages.splice(0).reverse()) end();
});

const browser = { session_id: 'ses_01ARZ3NDEKTSV4RRFFQ69G5FAV', signed_in_at: at, expires_at: at };

/** The session of a person who is signed in by one browser only. */
export const session = {
  ...{ ...browser, user_id: userId, methods: ['code'], proven_at: at, csrf_token: 'the token of the page' },
  ...{ sessions: [{ ...browser, client: 'jsdom', address: '127.0.0.1', current: true }], devices: [] },
  ...{ passkeys: [], identities: [] },
};

const members = {
  ...{
    workspace_id: workspaceId,
    name: 'Vault',
    org_id: null,
    role: 'owner',
    created_at: at,
    public_proof: 'published',
  },
  members: [{ user_id: userId, name: 'Ada', email: 'ada@example.org', role: 'owner', joined_at: at }],
};

const me = {
  user: { id: userId, name: 'Ada', email: 'ada@example.org' },
  workspaces: [{ id: workspaceId, name: 'Vault', role: 'owner' }],
};
