import { lazyRouteComponent } from '@tanstack/react-router';

type PageEntry = {
  /** Below `/console/`, as the address bar shows it. */
  path: string;
  title: string;
  /** Goes there after `g`. */
  goKey: string;
  component: ReturnType<typeof lazyRouteComponent>;
};

/** Every page of the navigation, in its order. A new page is a folder and a line here. */
export const pages: readonly PageEntry[] = [
  {
    path: 'overview',
    title: 'Overview',
    goKey: 'o',
    component: lazyRouteComponent(() => import('./overview/overview-page.tsx'), 'OverviewPage'),
  },
  {
    path: 'inbox',
    title: 'Inbox',
    goKey: 'i',
    component: lazyRouteComponent(() => import('./inbox/inbox-page.tsx'), 'InboxPage'),
  },
  {
    path: 'runs',
    title: 'Runs',
    goKey: 'r',
    component: lazyRouteComponent(() => import('./runs/runs-page.tsx'), 'RunsPage'),
  },
  {
    path: 'receipts',
    title: 'Receipts',
    goKey: 'v',
    component: lazyRouteComponent(() => import('./receipts/receipts-page.tsx'), 'ReceiptsPage'),
  },
  {
    path: 'tools',
    title: 'Tools',
    goKey: 'd',
    component: lazyRouteComponent(() => import('./tools/tools-page.tsx'), 'ToolsPage'),
  },
  {
    path: 'stops',
    title: 'Stops',
    goKey: 'f',
    component: lazyRouteComponent(() => import('./stops/stops-page.tsx'), 'StopsPage'),
  },
  {
    path: 'incidents',
    title: 'Incidents',
    goKey: 'e',
    component: lazyRouteComponent(() => import('./incidents/incidents-page.tsx'), 'IncidentsPage'),
  },
  {
    path: 'budgets',
    title: 'Budgets',
    goKey: 'b',
    component: lazyRouteComponent(() => import('./budgets/budgets-page.tsx'), 'BudgetsPage'),
  },
  {
    path: 'policy',
    title: 'Policy',
    goKey: 'p',
    component: lazyRouteComponent(() => import('./policy/policy-page.tsx'), 'PolicyPage'),
  },
  {
    path: 'audit',
    title: 'Audit',
    goKey: 'a',
    component: lazyRouteComponent(() => import('./audit/audit-page.tsx'), 'AuditPage'),
  },
  {
    path: 'members',
    title: 'Members and keys',
    goKey: 'm',
    component: lazyRouteComponent(() => import('./members/members-page.tsx'), 'MembersPage'),
  },
  {
    path: 'settings',
    title: 'Settings',
    goKey: ',',
    component: lazyRouteComponent(() => import('./settings/settings-page.tsx'), 'SettingsPage'),
  },
  {
    path: 'you',
    title: 'You',
    goKey: 'y',
    component: lazyRouteComponent(() => import('./you/you-page.tsx'), 'YouPage'),
  },
];
