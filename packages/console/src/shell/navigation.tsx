import { IconMenu2, IconSelector } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { visibleText } from '@countersign/contracts';
import { pageGroups, pages } from '../pages.ts';
import { useAddressedWorkspace, useSwitch, type Me } from '../workspace/open-workspace.ts';
import { Logo } from './logo.tsx';
import { PersonMenu } from './person-menu.tsx';
import { PageCount } from './page-count.tsx';

/**
 * The navigation beside the page: workspace, pages and person. Narrow screens show only icons, and `onMenu` opens all
 * of it.
 */
export function NavigationPanel({ me, onMenu }: { me: Me; onMenu: () => void }) {
  return (
    <aside className="panel" aria-label="Navigation">
      <NavigationContent me={me}>
        <button type="button" className="plain-button folded-only" onClick={onMenu}>
          <IconMenu2 size={16} aria-hidden="true" />
          <span className="fold-label">Menu</span>
        </button>
      </NavigationContent>
    </aside>
  );
}

export function NavigationContent({ me, children }: { me: Me; children?: ReactNode }) {
  return (
    <>
      <WorkspaceSwitch me={me} />
      <nav aria-label="Pages">
        {pageGroups.map((group) => (
          <PageGroup key={group} group={group} />
        ))}
      </nav>
      <PersonMenu me={me}>{children}</PersonMenu>
    </>
  );
}

function PageGroup({ group }: { group: (typeof pageGroups)[number] }) {
  return (
    <>
      {group !== '' && <p className="navigation-group">{group}</p>}
      <ul>
        {pages
          .filter((page) => page.group === group)
          .map(({ path, title, icon: Symbol }) => (
            <li key={path}>
              <Link to={`/${path}`} activeProps={{ 'aria-current': 'page' }}>
                <Symbol size={16} aria-hidden="true" />
                <span className="clip fold-label">{title}</span>
                <PageCount path={path} />
              </Link>
            </li>
          ))}
      </ul>
    </>
  );
}

function WorkspaceSwitch({ me }: { me: Me }) {
  const open = useAddressedWorkspace(me);
  const change = useSwitch();
  return (
    <label className="workspace-switch">
      <Logo />
      <span className="two-lines" aria-hidden="true">
        <span className="clip">{open === undefined ? 'No workspace' : visibleText(open.name)}</span>
        <span>{open === undefined ? 'Choose one' : roleWords[open.role]}</span>
      </span>
      <IconSelector size={15} aria-hidden="true" />
      <select
        aria-label="Workspace"
        title="Workspace"
        value={open?.id ?? ''}
        onChange={(event) => change(event.target.value)}
      >
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

const roleWords = { member: 'Member', partner: 'Partner', owner: 'Owner' } as const;
