import { IconHandStop, IconMenu2 } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { pages } from '../pages.ts';
import { PageCount } from './page-count.tsx';

type Props = { onStop: (() => void) | null; onMenu: () => void };

const onPhones = new Set(['overview', 'inbox', 'activity']);

/** The main pages at the bottom of a narrow screen, within reach of a thumb. */
export function PhoneBar({ onStop, onMenu }: Props) {
  return (
    <nav className="phone-bar" aria-label="Main pages">
      {pages
        .filter(({ path }) => onPhones.has(path))
        .map(({ path, title, icon: Symbol }) => (
          <Link key={path} to={`/${path}`} activeProps={{ 'aria-current': 'page' }}>
            <Symbol size={20} aria-hidden="true" />
            {title}
            <PageCount path={path} />
          </Link>
        ))}
      {onStop !== null && (
        <button type="button" className="stop-button" onClick={onStop}>
          <IconHandStop size={20} aria-hidden="true" />
          Stop
        </button>
      )}
      <button type="button" onClick={onMenu}>
        <IconMenu2 size={20} aria-hidden="true" />
        Menu
      </button>
    </nav>
  );
}
