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
import { getSession } from '@countersign/contracts/control-plane';
import { getMe } from '@countersign/contracts/gateway';
import { clientOf, forgetSession } from '../src/api/clients.ts';
import { createQueries } from '../src/api/queries.ts';
import { createConsoleRouter } from '../src/router.tsx';
import { theme } from '../src/theme.ts';
import { WorkspaceContext } from '../src/workspace/open-workspace.ts';
import { ScriptedPeer } from './_scripted-peer.ts';

/** The workspace that is open, the person who opened it, and when everything in these tests happens. */
export const workspaceId = 'wsp_01ARZ3NDEKTSV4RRFFQ69G5FAV' as WorkspaceId; // as a service would name it
export const userId = 'usr_01ARZ3NDEKTSV4RRFFQ69G5FAV';
export const at = '2026-11-27T12:00:00.000Z';

// Another file of the worker may have loaded it without a window.
environmentManager.setIsServer(() => false);
Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
/** A slow machine is no failure; but what a page reads by itself, each 15 seconds, is no answer to an act. */
configure({ asyncUtilTimeout: 10_000 });

/** Without a pause between two keys, and without checking pointer events in styles, which are not loaded. */
const atOnce = { delay: null, pointerEventsCheck: PointerEventsCheckLevel.Never };

type Opened = { role?: PersonRole; path?: string };
const stages: (() => void)[] = [];

/** A peer that answers who is signed in, and by what; `show` renders a part of the console over it, in an open workspace. */
export function stage() {
  const peer = new ScriptedPeer();
  peer.answers(getSession, session);
  peer.answers(getMe, me);
  const nodeFetch = globalThis.fetch;
  globalThis.fetch = peer.fetch;
  const queries = createQueries(() => undefined);
  // A read is tried again at once. Data of an act that is kept for minutes would keep the worker alive.
  const { queries: reads, mutations: acts } = queries.getDefaultOptions();
  queries.setDefaultOptions({ queries: { ...reads, retryDelay: 0 }, mutations: { ...acts, gcTime: 0 } });
  stages.push(() => {
    queries.clear();
    forgetSession();
    globalThis.fetch = nodeFetch;
    expect(peer.breaches).toEqual([]);
  });
  return { peer, user: userEvent.setup(atOnce), show, openConsole, readAgain: () => queries.invalidateQueries() };

  /** The whole console, as a link into it opens it. */
  function openConsole(path: string): void {
    const before = location.href;
    history.replaceState(null, '', `/console${path}`);
    // The router listens to the window by the bare name, which Node has not.
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

  function show(part: ReactNode, { role = 'owner', path = '/' }: Opened = {}): void {
    const workspace = { id: workspaceId, name: 'Vault', role, client: clientOf(workspaceId) };
    const root = createRootRoute();
    const pageAt = (below: string) =>
      createRoute({
        getParentRoute: () => root,
        path: below,
        component: () => <WorkspaceContext value={workspace}>{part}</WorkspaceContext>,
      });
    const routeTree = root.addChildren([pageAt('$'), pageAt('$page/$id')]);
    const entries = createMemoryHistory({ initialEntries: [`/console${path}`] });
    renderAt(createRouter({ routeTree, basepath: '/console', history: entries }));
  }
}

afterEach(() => {
  cleanup();
  // The last one first: each puts back what it found.
  for (const end of stages.splice(0).reverse()) end();
});

const browser = { session_id: 'ses_01ARZ3NDEKTSV4RRFFQ69G5FAV', signed_in_at: at, expires_at: at };

/** The person is signed in by one browser and nothing else. */
export const session = {
  ...{ ...browser, user_id: userId, methods: ['code'], proven_at: at, csrf_token: 'the token of the page' },
  ...{ sessions: [{ ...browser, client: 'jsdom', address: '127.0.0.1', current: true }], devices: [] },
  ...{ passkeys: [], identities: [] },
};

const me = {
  user: { id: userId, name: 'Ada', email: 'ada@example.org' },
  workspaces: [{ id: workspaceId, name: 'Vault', role: 'owner' }],
};
