import {
  IconActivity,
  IconClipboardCheck,
  IconCoins,
  IconCreditCard,
  IconGavel,
  IconInbox,
  IconLayoutDashboard,
  IconListDetails,
  IconPlug,
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
  /** The path below `/console/`. */
  path: string;
  title: string;
  group: PageGroup;
  icon: Icon;
  /** The page opens on `g` followed by this key. */
  goKey: string;
  component: ReturnType<typeof lazyRouteComponent>;
};

/** All pages of the navigation, in its order. A new page needs a folder and an entry here. */
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
    path: 'connectors',
    title: 'Connectors',
    group: 'Agents',
    icon: IconPlug,
    goKey: 'c',
    component: lazyRouteComponent(() => import('./connectors/route.ts'), 'ConnectorsPage'),
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
