import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Outlet, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useMemo } from 'react';
import { clientOf } from '../api/clients.ts';
import { meQuery } from '../api/queries.ts';
import { followKeys, useShortcuts } from '../keys/shortcuts.ts';
import { LivePages } from '../live/live-pages.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Page } from '../parts/page.tsx';
import { PresenceDialog } from '../presence/presence-dialog.tsx';
import { KeyList } from './key-list.tsx';
import { NavigationPanel, TopBar } from './navigation.tsx';
import { Palette } from './palette.tsx';
import { pages } from '../pages.ts';
import { useAddressedWorkspace, WorkspaceContext, type Me } from '../workspace/open-workspace.ts';

const OpenInvites = lazy(async () => ({ default: (await import('../invites/open-invites.tsx')).OpenInvites }));

/** What stands around every page of somebody who is signed in. */
export function Shell() {
  const query = useQuery(meQuery);
  useEffect(() => followKeys(document), []);
  return <Loaded query={query}>{(me) => <SignedInShell me={me} />}</Loaded>;
}

function SignedInShell({ me }: { me: Me }) {
  const [isPaletteOpen, palette] = useDisclosure();
  const [isKeyListOpen, keyList] = useDisclosure();
  const [isMenuOpen, menu] = useDisclosure();
  const navigate = useNavigate();
  usePaletteKey(isPaletteOpen, palette.toggle);
  useShortcuts([
    { keys: '?', says: 'List the keys', run: keyList.open },
    ...pages.map(({ path, title, goKey }) => ({
      keys: `g ${goKey}`,
      says: `Go to ${title}`,
      run: () => void navigate({ to: `/${path}` }),
    })),
  ]);
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <TopBar onMenu={menu.open} onPalette={palette.open} />
      <NavigationPanel
        me={me}
        isMenuOpen={isMenuOpen}
        onMenuClose={menu.close}
        onPalette={palette.open}
        onKeys={keyList.open}
      />
      <PageOfWorkspace me={me} />
      <Palette me={me} isOpen={isPaletteOpen} onClose={palette.close} />
      <KeyList isOpen={isKeyListOpen} onClose={keyList.close} />
      <PresenceDialog />
    </div>
  );
}

function PageOfWorkspace({ me }: { me: Me }) {
  const workspace = useAddressedWorkspace(me);
  const open = useMemo(
    () => (workspace === undefined ? null : { ...workspace, client: clientOf(workspace.id) }),
    [workspace],
  );
  if (open === null) return <NoWorkspace isMemberAnywhere={me.workspaces.length > 0} />;
  // Another workspace is another page: nothing of the last one stays on it.
  return (
    <WorkspaceContext value={open} key={open.id}>
      <LivePages>
        <Outlet />
      </LivePages>
    </WorkspaceContext>
  );
}

function NoWorkspace({ isMemberAnywhere }: { isMemberAnywhere: boolean }) {
  return (
    <Page title="No such workspace">
      <EmptyState title={isMemberAnywhere ? 'You are in no workspace of this name' : 'You are in no workspace yet'}>
        {isMemberAnywhere ? 'Choose one of yours in the navigation.' : 'Ask an owner for an invite.'}
      </EmptyState>
      <Suspense>
        <OpenInvites />
      </Suspense>
    </Page>
  );
}

/** Over another dialog it does nothing: what is written there would be lost under it. */
function usePaletteKey(isOpen: boolean, toggle: () => void): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.key !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      if (isOpen || document.querySelector('[role="dialog"]') === null) toggle();
    };
    document.addEventListener('keydown', pressed);
    return () => document.removeEventListener('keydown', pressed);
  }, [isOpen, toggle]);
}
