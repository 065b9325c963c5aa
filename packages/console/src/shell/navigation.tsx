import { Drawer } from '@mantine/core';
import { Link, useLocation } from '@tanstack/react-router';
import { useEffect } from 'react';
import { visibleText } from '@countersign/contracts';
import { pages } from '../pages.ts';
import { PersonMenu } from './person-menu.tsx';
import { useAddressedWorkspace, useSwitch, type Me } from '../workspace/open-workspace.ts';

type PanelProps = {
  me: Me;
  isMenuOpen: boolean;
  onMenuClose: () => void;
  onPalette: () => void;
  onKeys: () => void;
};

/** Beside the page; on a narrow screen, behind the menu button. */
export function NavigationPanel({ isMenuOpen, onMenuClose, ...inside }: PanelProps) {
  const { pathname } = useLocation();
  useEffect(() => onMenuClose(), [pathname, onMenuClose]);
  return (
    <>
      <aside className="panel" aria-label="Navigation">
        <Inside {...inside} />
      </aside>
      <Drawer opened={isMenuOpen} onClose={onMenuClose} title="Countersign" size={280} padding="md">
        <div className="panel-drawn">
          <Inside {...inside} />
        </div>
      </Drawer>
    </>
  );
}

type TopBarProps = { onMenu: () => void; onPalette: () => void };

export function TopBar({ onMenu, onPalette }: TopBarProps) {
  return (
    <header className="top-bar">
      <button type="button" className="plain-button" onClick={onMenu}>
        Menu
      </button>
      <span className="brand">Countersign</span>
      <button type="button" className="plain-button" onClick={onPalette}>
        Search
      </button>
    </header>
  );
}

function Inside({ me, onPalette, onKeys }: Omit<PanelProps, 'isMenuOpen' | 'onMenuClose'>) {
  return (
    <>
      <p className="brand">Countersign</p>
      <WorkspaceSwitch me={me} />
      <nav aria-label="Pages">
        <ul>
          {pages.map(({ path, title }) => (
            <li key={path}>
              <Link to={`/${path}`} activeProps={{ 'aria-current': 'page' }}>
                {title}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <div className="panel-foot">
        <button type="button" className="plain-button" onClick={onPalette}>
          Search <kbd>Ctrl K</kbd>
        </button>
        <button type="button" className="plain-button" onClick={onKeys}>
          Keys <kbd>?</kbd>
        </button>
        <PersonMenu me={me} />
      </div>
    </>
  );
}

function WorkspaceSwitch({ me }: { me: Me }) {
  const open = useAddressedWorkspace(me);
  const change = useSwitch();
  return (
    <label className="workspace-switch">
      <span>Workspace</span>
      <select value={open?.id ?? ''} onChange={(event) => change(event.target.value)}>
        {open === undefined && <option value="">Choose one</option>}
        {me.workspaces.map(({ id, name, role }) => (
          <option key={id} value={id}>
            {visibleText(name)} ({role})
          </option>
        ))}
      </select>
    </label>
  );
}
