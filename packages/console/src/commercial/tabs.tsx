import { Link } from '@tanstack/react-router';

type Props = { label: string; tabs: readonly { to: string; title: string }[] };

/** Parts of a page that have an address each. */
export function Tabs({ label, tabs }: Props) {
  return (
    <nav className="tabs" aria-label={label}>
      {tabs.map(({ to, title }) => (
        <Link
          key={to}
          to={to}
          activeOptions={{ exact: true, includeSearch: false }}
          activeProps={{ 'aria-current': 'page' }}
        >
          {title}
        </Link>
      ))}
    </nav>
  );
}
