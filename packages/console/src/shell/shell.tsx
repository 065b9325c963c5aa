import { mayDo } from '@countersign/contracts';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useMemo } from 'react';
import { clientOf } from '../api/clients.ts';
import { useAskedPresence } from '../api/presence.ts';
import { meQuery } from '../api/queries.ts';
import { followKeys, useShortcuts } from '../keys/shortcuts.ts';
import { LivePages } from '../live/live-pages.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Page } from '../parts/page.tsx';
import { NavigationPanel } from './navigation.tsx';
import { KeyList, MenuDrawer, OnDemand, Palette, PresenceDialog, StopDialog, useIdleLoad } from './on-demand.tsx';
import { PhoneBar } from './phone-bar.tsx';
import { TopBar } from './top-bar.tsx';
import { pages } from '../pages.ts';
import { useAddressedWorkspace, WorkspaceContext, type Me, type OpenWorkspace } from '../workspace/open-workspace.ts';

const OpenInvites = lazy(async () => ({ default: (await import('../invites/open-invites.tsx')).OpenInvites }));

/** The frame of every page of a signed-in person. */
export function Shell() {
  const query = useQuery(meQuery);
  useEffect(() => followKeys(document), []);
  return <Loaded query={query}>{(me) => <SignedInShell me={me} />}</Loaded>;
}

function SignedInShell({ me }: { me: Me }) {
  const addressed = useAddressedWorkspace(me);
  const workspace = useMemo(
    () => (addressed === undefined ? null : { ...addressed, client: clientOf(addressed.id) }),
    [addressed],
  );
  return (
    <WorkspaceContext value={workspace}>
      <Frame me={me} workspace={workspace} />
    </WorkspaceContext>
  );
}

function Frame({ me, workspace }: { me: Me; workspace: OpenWorkspace | null }) {
  const [isPaletteOpen, palette] = useDisclosure();
  const [isKeyListOpen, keyList] = useDisclosure();
  const [isMenuOpen, menu] = useDisclosure();
  const [isStopOpen, stop] = useDisclosure();
  const { pathname } = useLocation();
  const isPresenceAsked = useAskedPresence() !== null;
  useEffect(() => menu.close(), [pathname, menu.close]);
  useIdleLoad();
  usePaletteKey(isPaletteOpen, palette.toggle);
  const onStop = workspace !== null && mayDo(workspace.role, 'stop.give') ? stop.open : null;
  useShellKeys({ onKeys: keyList.open, onStop });
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <NavigationPanel me={me} onMenu={menu.open} />
      <div className="desk">
        <TopBar workspace={workspace} onStop={onStop} onPalette={palette.open} onKeys={keyList.open} />
        <PageOfWorkspace me={me} workspace={workspace} />
      </div>
      <PhoneBar onStop={onStop} onMenu={menu.open} />
      <OnDemand isOpen={isMenuOpen}>{(isOpen) => <MenuDrawer me={me} isOpen={isOpen} onClose={menu.close} />}</OnDemand>
      <OnDemand isOpen={isPaletteOpen}>
        {(isOpen) => <Palette me={me} isOpen={isOpen} onClose={palette.close} />}
      </OnDemand>
      <OnDemand isOpen={isKeyListOpen}>{(isOpen) => <KeyList isOpen={isOpen} onClose={keyList.close} />}</OnDemand>
      {onStop !== null && (
        <OnDemand isOpen={isStopOpen}>{(isOpen) => <StopDialog isOpen={isOpen} onClose={stop.close} />}</OnDemand>
      )}
      <OnDemand isOpen={isPresenceAsked}>{(isOpen) => <PresenceDialog isOpen={isOpen} />}</OnDemand>
    </div>
  );
}

function useShellKeys({ onKeys, onStop }: { onKeys: () => void; onStop: (() => void) | null }): void {
  const navigate = useNavigate();
  useShortcuts([
    { keys: '?', says: 'List the keys', run: onKeys },
    ...(onStop === null ? [] : [{ keys: 'F', says: 'Stop something', run: onStop }]),
    { keys: 'g f', says: 'Go to stops', run: () => void navigate({ to: '/incidents' }) },
    ...pages.map(({ path, title, goKey }) => ({
      keys: `g ${goKey}`,
      says: `Go to ${title}`,
      run: () => void navigate({ to: `/${path}` }),
    })),
  ]);
}

function PageOfWorkspace({ me, workspace }: { me: Me; workspace: OpenWorkspace | null }) {
  if (workspace === null) return <NoWorkspace isMemberAnywhere={me.workspaces.length > 0} />;
  // The key mounts a new page for each workspace, so no state of the last one stays.
  return (
    <LivePages key={workspace.id}>
      <Outlet />
    </LivePages>
  );
}

function NoWorkspace({ isMemberAnywhere }: { isMemberAnywhere: boolean }) {
  return (
    <Page title="Workspace not found">
      <EmptyState
        title={isMemberAnywhere ? 'You are not a member of this workspace' : 'You are not a member of a workspace yet'}
      >
        {isMemberAnywhere ? 'Choose one of yours in the navigation.' : 'Ask an owner for an invite.'}
      </EmptyState>
      <Suspense>
        <OpenInvites />
      </Suspense>
    </Page>
  );
}

/** Toggles the palette. The key does nothing over another dialog, because text that was typed there would be lost. */
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
