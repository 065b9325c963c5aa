import { IconHandStop, IconHelp, IconSearch } from '@tabler/icons-react';
import { Suspense } from 'react';
import { visibleText } from '@countersign/contracts';
import type { OpenWorkspace } from '../workspace/open-workspace.ts';
import { Clock } from './clock.tsx';
import { Logo } from './logo.tsx';
import { Bell } from './on-demand.tsx';
import { StatusPill } from './status-pill.tsx';

type Props = {
  workspace: OpenWorkspace | null;
  /** `null` when the person may not stop calls here. */
  onStop: (() => void) | null;
  onPalette: () => void;
  onKeys: () => void;
};

/** The bar above every page: search, time, status, the Stop button and the bell. */
export function TopBar({ workspace, onStop, onPalette, onKeys }: Props) {
  return (
    <header className="top-bar">
      <span className="phone-only">
        <Logo size={26} />
      </span>
      <span className="two-lines phone-only">
        <span className="clip">{workspace === null ? 'Countersign' : visibleText(workspace.name)}</span>
      </span>
      <button type="button" className="find wide-only" onClick={onPalette}>
        <IconSearch size={14} aria-hidden="true" />
        Search pages, actions and ids
        <kbd aria-hidden="true">Ctrl K</kbd>
      </button>
      <Clock />
      {workspace !== null && <StatusPill />}
      {onStop !== null && (
        <button type="button" className="pill stop-button wide-only" onClick={onStop}>
          <IconHandStop size={15} aria-hidden="true" />
          Stop
        </button>
      )}
      {workspace !== null && (
        <Suspense fallback={<span className="bar-button wide-only" />}>
          <Bell />
        </Suspense>
      )}
      <button type="button" className="plain-button bar-button" onClick={onKeys} aria-label="Keys" title="Keys (?)">
        <IconHelp size={17} aria-hidden="true" />
      </button>
    </header>
  );
}
