import {
  IconActivity,
  IconClipboardCheck,
  IconCoins,
  IconCreditCard,
  IconGavel,
  IconInbox,
  IconLayoutDashboard,
  IconListDetails,
  IconRobot,
  IconRoute,
  IconSettings,
  IconTool,
  IconUrgent,
  IconUser,
  IconUsers,
  IconUserShield,
  type Icon,
} from '@tabler/icons-react';
import { lazyRouteComponent } from '@tanstack/react-router';

/** Groups of the navigation, in its order. The first has no heading. `person` is shown with the signed-in person. */
export const pageGroups = ['', 'Agents', 'Rules', 'Proof', 'Organisation'] as const;
type PageGroup = (typeof pageGroups)[number] | 'person';

type PageEntry = {
  /** Below `/console/`, as the address bar shows it. */
  path: string;
  title: string;
  group: PageGroup;
  icon: Icon;
  /** Goes there after `g`. */
  goKey: string;
  component: ReturnType<typeof lazyRouteComponent>;
};

/** Every page of the navigation, in its order. A new page is a folder and a line here. */
export const pages: readonly PageEntry[] = [
  {
    path: 'overview',
    title: 'Overview',
    group: '',
    icon: IconLayoutDashboard,
    goKey: 'o',
    component: lazyRouteComponent(() => import('./overview/route.ts'), 'OverviewPage'),
  },
  {
    path: 'inbox',
    title: 'Inbox',
    group: '',
    icon: IconInbox,
    goKey: 'i',
    component: lazyRouteComponent(() => import('./inbox/route.ts'), 'InboxPage'),
  },
  {
    path: 'activity',
    title: 'Activity',
    group: '',
    icon: IconActivity,
    goKey: 'v',
    component: lazyRouteComponent(() => import('./activity/route.ts'), 'ActivityPage'),
  },
  {
    path: 'runs',
    title: 'Runs',
    group: '',
    icon: IconRoute,
    goKey: 'r',
    component: lazyRouteComponent(() => import('./runs/route.ts'), 'RunsPage'),
  },
  {
    path: 'agents',
    title: 'Agents',
    group: 'Agents',
    icon: IconRobot,
    goKey: 'n',
    component: lazyRouteComponent(() => import('./agents/route.ts'), 'AgentsPage'),
  },
  {
    path: 'tools',
    title: 'Tools',
    group: 'Agents',
    icon: IconTool,
    goKey: 'd',
    component: lazyRouteComponent(() => import('./tools/route.ts'), 'ToolsPage'),
  },
  {
    path: 'incidents',
    title: 'Stops and incidents',
    group: '',
    icon: IconUrgent,
    goKey: 'e',
    component: lazyRouteComponent(() => import('./incidents/incidents-page.tsx'), 'IncidentsPage'),
  },
  {
    path: 'budgets',
    title: 'Budgets',
    group: 'Rules',
    icon: IconCoins,
    goKey: 'b',
    component: lazyRouteComponent(() => import('./budgets/route.ts'), 'BudgetsPage'),
  },
  {
    path: 'policy',
    title: 'Policy',
    group: 'Rules',
    icon: IconGavel,
    goKey: 'p',
    component: lazyRouteComponent(() => import('./policy/route.ts'), 'PolicyPage'),
  },
  {
    path: 'audit',
    title: 'Audit',
    group: 'Proof',
    icon: IconListDetails,
    goKey: 'a',
    component: lazyRouteComponent(() => import('./audit/audit-page.tsx'), 'AuditPage'),
  },
  {
    path: 'compliance',
    title: 'Compliance',
    group: 'Proof',
    icon: IconClipboardCheck,
    goKey: 'q',
    component: lazyRouteComponent(() => import('./compliance/route.ts'), 'CompliancePage'),
  },
  {
    path: 'members',
    title: 'Members and keys',
    group: 'Organisation',
    icon: IconUsers,
    goKey: 'm',
    component: lazyRouteComponent(() => import('./members/members-page.tsx'), 'MembersPage'),
  },
  {
    path: 'provisioning',
    title: 'Provisioning',
    group: 'Organisation',
    icon: IconUserShield,
    goKey: 'w',
    component: lazyRouteComponent(() => import('./provisioning/route.ts'), 'ProvisioningPage'),
  },
  {
    path: 'billing',
    title: 'Billing and usage',
    group: 'Organisation',
    icon: IconCreditCard,
    goKey: 'l',
    component: lazyRouteComponent(() => import('./billing/route.ts'), 'BillingPage'),
  },
  {
    path: 'settings',
    title: 'Settings',
    group: 'Organisation',
    icon: IconSettings,
    goKey: ',',
    component: lazyRouteComponent(() => import('./settings/settings-page.tsx'), 'SettingsPage'),
  },
  {
    path: 'you',
    title: 'You',
    group: 'person',
    icon: IconUser,
    goKey: 'y',
    component: lazyRouteComponent(() => import('./you/you-page.tsx'), 'YouPage'),
  },
];
