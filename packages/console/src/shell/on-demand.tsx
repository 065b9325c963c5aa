import { lazy, Suspense, useEffect, useState, type ReactNode } from 'react';

const load = {
  palette: () => import('./palette.tsx'),
  keyList: () => import('./key-list.tsx'),
  menuDrawer: () => import('./menu-drawer.tsx'),
  presenceDialog: () => import('../presence/presence-dialog.tsx'),
  stopDialog: () => import('../stops/stop-dialog.tsx'),
  bell: () => import('./bell.tsx'),
};

// The dialogs of the shell and the bell are not part of the first load.
export const Palette = lazy(async () => ({ default: (await load.palette()).Palette }));
export const KeyList = lazy(async () => ({ default: (await load.keyList()).KeyList }));
export const MenuDrawer = lazy(async () => ({ default: (await load.menuDrawer()).MenuDrawer }));
export const PresenceDialog = lazy(async () => ({ default: (await load.presenceDialog()).PresenceDialog }));
export const StopDialog = lazy(async () => ({ default: (await load.stopDialog()).StopDialog }));
export const Bell = lazy(async () => ({ default: (await load.bell()).Bell }));

/** Loads every dialog once the page is idle, so that each opens at once. */
export function useIdleLoad(): void {
  useEffect(() => {
    const loadAll = () => void Promise.allSettled(Object.values(load).map((loadOne) => loadOne()));
    if (typeof requestIdleCallback === 'undefined') return loadAll();
    const idle = requestIdleCallback(loadAll);
    return () => cancelIdleCallback(idle);
  }, []);
}

type Props = { isOpen: boolean; children: (isOpen: boolean) => ReactNode };

/** Mounts a dialog when it first opens, and keeps it. */
export function OnDemand({ isOpen, children }: Props) {
  const [isNeeded, setNeeded] = useState(isOpen);
  if (isOpen && !isNeeded) setNeeded(true);
  if (!isNeeded) return null;
  return (
    <Suspense>
      <Mounted isOpen={isOpen}>{children}</Mounted>
    </Suspense>
  );
}

/** Mounts the dialog closed, because a dialog returns the focus only when it opens after it was mounted. */
function Mounted({ isOpen, children }: Props) {
  const [isMounted, setMounted] = useState(false);
  useEffect(() => setMounted(true), []);
  return <>{children(isOpen && isMounted)}</>;
}
