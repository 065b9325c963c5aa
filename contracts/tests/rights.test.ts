import { describe, expect, it } from '@jest/globals';
import {
  hasRole,
  holdsAll,
  mayCall,
  mayDo,
  PersonRole,
  rightsOf,
  type AnyRoute,
  type Right,
} from '@countersign/contracts';
import { commercialRoutes, controlPlaneRoutes, forwarding, gatewayRoutes } from '@countersign/contracts/routes';

type Row = [operation: string, roles: readonly string[]];
const everyone = ['member', 'partner', 'owner'];
const partnersUp = ['partner', 'owner'];
const owners = ['owner'];
const rowsOf = (roles: readonly string[], operations: string): Row[] =>
  operations
    .trim()
    .split(/\s+/)
    .map((operation) => [operation, roles]);

/** The callers of each route, written by hand. No route definition is read here. */
const ofGateway: Row[] = [
  ...rowsOf(
    everyone,
    `
    check-resolver compile-policy-draft create-api-key create-blast-radius create-console-run create-console-task
    create-policy-test create-replay create-session-ticket create-support-report create-task create-what-if
    delete-task get-connector list-connectors list-installs export-audit export-evidence export-receipts follow-events get-active-policy get-consistency-proof get-console-run
    get-envelope get-envelope-payload get-host-chain list-envelopes list-evidence-keys list-host-drift verify-envelope
    get-console-workspace get-approval-context get-decision-stats compare-mcp-server-address get-mcp-server list-mcp-servers get-evidence-handle get-governance-receipt get-governance-status get-graph-receipt get-incident
    get-inclusion-proof get-tlog-proof get-latest-checkpoint get-ops get-plan get-policy-draft get-policy-version list-policy-versions get-receipt get-record get-replay
    get-trust-list get-runtime-status get-seen-agent get-spend-summary get-report get-run get-snapshot get-task get-what-if get-workspace get-workspace-approval get-workspace-settings
    leave-workspace list-api-keys list-approvals list-audit list-budgets list-checkpoints list-console-actions
    list-console-runs list-console-tasks list-console-tools list-evidence-handles list-governance-receipts
    list-graph-receipts list-graph-sessions
    list-inbox-approvals list-incidents list-ops-targets list-receipts list-records list-reports list-run-receipts
    list-runs list-seen-agents list-tasks list-tool-drift list-trust-keys list-violations list-workspace-approvals
    list-workspace-runs create-basic-blast-radius create-basic-key list-basic-approvals list-basic-evidence
    list-basic-incidents list-basic-keys list-basic-members list-basic-plans get-runtime-status get-spend-summary list-environments list-plans revoke-basic-key
    put-policy-draft put-task put-task-status revoke-api-key run-task start-run tail-receipts verify-evidence
    verify-replay`,
  ),
  ...rowsOf(
    partnersUp,
    `
    begin-passkey challenge-approval create-incident create-plan delete-policy-shadow disable-connector finish-passkey freeze-target
    disable-mcp-server put-policy-shadow quarantine-target resolve-approval resolve-workspace-approval revoke-evidence-handle
    throttle-target transition-incident create-basic-incident create-basic-plan resolve-basic-approval record-spend stop-runtime
    transition-basic-incident emit-event emit-basic-event`,
  ),
  ...rowsOf(
    owners,
    `
    activate-policy apply-workspace-settings approve-install install-connector create-shim list-shims revoke-shim approve-plan commit-plan create-access-key create-console-member create-envelope
    create-evidence-handle create-invite create-subscription delete-console-member end-subscription get-bootstrap import-host-chain
    list-access-keys list-invites list-notifications list-subscriptions put-console-member put-console-workspace
    put-member-role put-workspace put-workspace-mode put-workspace-settings redrive-notification remove-member
    register-mcp-server request-mcp-server-approval scan-mcp-server resume-target resync-target revoke-access-key revoke-invite rotate-webhook-secret approve-basic-plan
    commit-basic-plan list-deliveries redrive-delivery list-basic-subscriptions put-basic-subscription
    list-basic-deliveries redrive-basic-delivery start-runtime create-basic-evidence create-basic-member create-environment`,
  ),
];
const ofControlPlane: Row[] = [
  ...rowsOf(
    everyone,
    `
    compile-policy-draft create-blast-radius create-console-run create-console-task create-policy-test create-replay
    create-session-ticket create-support-report create-what-if get-active-policy get-connector get-console-run
    get-console-workspace get-evidence-handle get-incident get-ops get-plan get-policy-draft get-policy-version list-policy-versions get-replay get-snapshot
    get-what-if list-console-actions list-console-runs list-console-tasks list-console-tools list-evidence-handles
    list-connectors list-inbox-approvals list-incidents list-installs list-ops-targets list-plans list-run-receipts list-tool-drift put-policy-draft`,
  ),
  ...rowsOf(
    partnersUp,
    `
    begin-passkey create-incident create-plan delete-policy-shadow disable-connector finish-passkey freeze-target put-policy-shadow
    quarantine-target resolve-approval revoke-evidence-handle throttle-target transition-incident`,
  ),
  ...rowsOf(
    owners,
    `
    activate-policy approve-install approve-plan commit-plan create-console-member create-evidence-handle create-shim delete-console-member
    get-bootstrap install-connector list-shims revoke-shim put-console-member put-console-workspace resume-target resync-target`,
  ),
];

const isRole = (text: string): text is PersonRole => PersonRole.safeParse(text).success;
const callers = (route: AnyRoute) => PersonRole.options.filter((role) => mayCall(rightsOf[role], route));
const sorted = (rows: Row[]) => Object.fromEntries(rows.toSorted(([one], [second]) => (one < second ? -1 : 1)));

describe('each role may call', () => {
  it('these routes of the gateway, with those that it forwards, and no others', () => {
    const routes = [...Object.values<AnyRoute>(gatewayRoutes), ...forwarding.map(({ route }) => route)];
    const found = routes.flatMap((route): Row[] => (isRole(route.auth) ? [[route.operation, callers(route)]] : []));
    expect(sorted(found)).toEqual(sorted(ofGateway));
  });

  it('these routes of the control plane, and no others', () => {
    const found = Object.values<AnyRoute>(controlPlaneRoutes).flatMap((route): Row[] =>
      route.leastRole === undefined ? [] : [[route.operation, callers(route)]],
    );
    expect(sorted(found)).toEqual(sorted(ofControlPlane));
  });

  it('the routes of its rank, as messages and documents state them', () => {
    const routes = [...Object.values<AnyRoute>({ ...gatewayRoutes, ...controlPlaneRoutes })];
    const least = ({ auth, leastRole }: AnyRoute) => leastRole ?? (isRole(auth) ? auth : null);
    const wrong = routes.filter((route) => {
      const role = least(route);
      return role !== null && callers(route).join() !== PersonRole.options.filter((one) => hasRole(one, role)).join();
    });
    expect(wrong.map(({ operation }) => operation)).toEqual([]);
  });

  it('no route without a required right', () => {
    expect(mayCall(rightsOf.owner, {})).toBe(false);
  });
});

/** Changes that an owner makes without a proof of presence, each with its reason. */
const withoutPresence: Readonly<Record<string, string>> = {
  'apply-workspace-settings': 'sends the settings in force once more',
  'approve-plan': 'is followed by commit-plan, which needs presence',
  'approve-basic-plan': 'is approve-plan',
  'create-envelope': 'signs what the log holds already',
  'create-environment': 'gives access to no person',
  'install-connector': 'adds a server that is quarantined',
  'revoke-shim': 'ends a credential',
  'import-host-chain': 'seals what another recorder saw, and changes no decision',
  'redrive-delivery': 'repeats a delivery',
  'redrive-notification': 'repeats a notification',
  'redrive-basic-delivery': 'repeats a delivery',
  'register-mcp-server': 'adds a server that is quarantined',
  'request-mcp-server-approval': 'is followed by a vote with a passkey',
  'scan-mcp-server': 'changes nothing',
  'revoke-access-key': 'takes access away',
  'revoke-invite': 'takes access away',
  'start-runtime': 'lets queued runs go on, and each of their calls is decided',
};

describe('a change that only owners may make', () => {
  it('needs a proof of presence, or has a stated reason', () => {
    const defined = Object.values<AnyRoute>({ ...gatewayRoutes, ...controlPlaneRoutes, ...commercialRoutes });
    const routes = [...forwarding.map(({ route }) => route), ...defined];
    const ofOwners = routes.filter((route) => route.method !== 'GET' && callers(route).join() === owners.join());
    const guarded = new Set(routes.filter((route) => route.needsPresence === true).map(({ operation }) => operation));
    const open = new Set(ofOwners.map(({ operation }) => operation).filter((operation) => !guarded.has(operation)));
    expect([...open].toSorted()).toEqual(Object.keys(withoutPresence).toSorted());
  });
});

describe('the rights that handlers check', () => {
  it.each<[Right, readonly string[]]>([
    ['key.manage', owners],
    ['task.manage', partnersUp],
    ['report.read_all', partnersUp],
    ['operation_audit.read', partnersUp],
    ['approval.decide', partnersUp],
    ['workspace.leave', everyone],
    ['member.manage', owners],
    ['notification.manage', owners],
    ['settings.manage', owners],
  ])('%s belongs to %j', (right, roles) => {
    expect(PersonRole.options.filter((role) => mayDo(role, right))).toEqual(roles);
  });

  it('rank the current roles one above the other', () => {
    const order = PersonRole.options.map((role) => PersonRole.options.filter((least) => hasRole(role, least)));
    expect(order).toEqual([['member'], ['member', 'partner'], ['member', 'partner', 'owner']]);
  });
});

describe('a role outside the ranking', () => {
  /** Not a role of the product: an example of what an auditor would have. */
  const auditor: ReadonlySet<Right> = new Set([
    'workspace.read',
    'settings.read',
    'audit.read',
    'operation_audit.read',
    'evidence.read',
    'report.read_all',
    'policy.read',
    'incident.read',
  ]);

  it('has rights that a member lacks, and lacks rights that a member has', () => {
    expect([holdsAll(auditor, rightsOf.member), holdsAll(rightsOf.member, auditor)]).toEqual([false, false]);
  });

  it('may call the routes of its set, all of which only read', () => {
    const routes = [
      ...Object.values<AnyRoute>({ ...gatewayRoutes, ...controlPlaneRoutes }),
      ...forwarding.map(({ route }) => route),
    ];
    const open = routes.filter((route) => mayCall(auditor, route));
    // These routes only read, although their method is not GET. Their input is in the body.
    const byBody = ['export-evidence', 'verify-envelope', 'verify-evidence', 'verify-replay'];
    const changing = open.filter(({ method, operation }) => method !== 'GET' && !byBody.includes(operation));
    expect(changing.map(({ operation }) => operation)).toEqual([]);
    const names = open.map(({ operation }) => operation);
    expect(names).toEqual(
      expect.arrayContaining(['list-audit', 'export-audit', 'export-receipts', 'get-policy-draft']),
    );
    expect(names).not.toEqual(expect.arrayContaining(['create-task']));
  });
});
