import { Link } from '@tanstack/react-router';

type Tab = {
  to: string;
  title: string;
  /** Tabs of one page differ by these members of the address. */
  search?: object;
  /** Whether the tab is the shown one. Without this member, the path of the address decides. */
  isShown?: boolean;
  /** The number of items in the tab, such as `200+`. */
  count?: string | undefined;
};

/** Tabs of a page. Each tab has its own address. */
export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  return (
    <nav className="tabs" aria-label={label}>
      {tabs.map(({ to, title, search, isShown, count }) => (
        <Link
          key={title}
          to={to}
          {...(search !== undefined && { search: (before: object) => ({ ...before, ...search }) })}
          {...(isShown === undefined ? byAddress : { activeProps: {}, ...(isShown && current) })}
        >
          {title}
          {count !== undefined && (
            <>
              {' '}
              <span className="tab-count">{count}</span>
            </>
          )}
        </Link>
      ))}
    </nav>
  );
}

const current = { 'aria-current': 'page' } as const;
const byAddress = { activeOptions: { exact: true, includeSearch: false }, activeProps: current };
