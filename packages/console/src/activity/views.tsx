import { Link } from '@tanstack/react-router';
import type { ActivitySearch } from './activity-search.ts';

/** Views that people come back to: each is an address. */
const views: readonly { title: string; search: ActivitySearch }[] = [
  { title: 'Everything', search: {} },
  { title: 'Calls', search: { kind: 'decision' } },
  { title: 'Denied', search: { verdict: 'DENY' } },
  { title: 'Needed approval', search: { verdict: 'ESCALATE' } },
  { title: 'Decided by people', search: { kind: 'approval' } },
  { title: 'Changes to rules', search: { kind: 'policy' } },
];

const members = ['verdict', 'kind', 'reason', 'tool', 'agent', 'from', 'to'] as const;
const none: ActivitySearch = Object.fromEntries(members.map((name) => [name, undefined]));

export function Views() {
  return (
    <nav className="views" aria-label="Views">
      {views.map(({ title, search: view }) => (
        <Link
          key={title}
          to="/activity"
          search={(before: object) => ({ ...before, ...none, ...view })}
          activeOptions={{ exact: true, includeSearch: true }}
        >
          {title}
        </Link>
      ))}
    </nav>
  );
}
