// The mutated code, and the tests that may kill its mutants. Only tests about that code count, so that a room takes
// minutes and not hours. Even if a test of another room would kill a survivor, a test about the code itself is missing.

import { services } from '../runner/imports.mjs';

const kernelSource = 'services/governance-kernel/src';
const gatewaySource = 'services/gateway/src';

/** Test files of one service, by the beginning of their names. */
const kernelTests = (...names) => names.map((name) => `services/governance-kernel/tests/${name}`);
const gatewayTests = (...names) => names.map((name) => `services/gateway/tests/${name}`);

const packages = [
  ...[
    'audit',
    'console',
    'crypto',
    'database',
    'delivery',
    'messaging',
    'policy',
    'receipts',
    'service-kit',
    'verifier',
    'what-if',
  ],
];
const roomOfPackage = (name) => ({ unit: name, source: `packages/${name}/src`, tests: [`packages/${name}/tests/`] });

/** Rooms that are written by hand. */
const cutRooms = {
  ...Object.fromEntries(packages.map((name) => [name, roomOfPackage(name)])),
  decision: {
    unit: 'kernel',
    source: `${kernelSource}/decision`,
    tests: kernelTests(
      ...[
        'all-or-none',
        'boundary-',
        'chat-once',
        'context',
        'dispatch',
        'evaluate',
        'execute-mcp',
        'fail-closed',
        'gates',
        'idempotency',
      ],
      ...['known-facts', 'one-batch', 'outage', 'provenance', 'relation-decisions', 'reply', 'same-names', 'self-test'],
      ...['shadow-lanes', 'standing', 'stop', 'tool-resolution', 'unsealed'],
    ),
  },
  approvals: {
    unit: 'kernel',
    source: `${kernelSource}/controls/approvals`,
    tests: kernelTests(
      ...['approval', 'break-glass', 'chat-approval', 'context', 'passkey', 'standing', 'timelocks', 'votes-of-before'],
    ),
  },
  budgets: {
    unit: 'kernel',
    source: `${kernelSource}/controls/budgets`,
    tests: kernelTests('budget', 'ceilings', 'chat-spend', 'installation-ceiling'),
  },
  'kernel-store': {
    unit: 'kernel',
    source: `${kernelSource}/store`,
    tests: kernelTests(
      ...[
        'access-keys',
        'all-or-none',
        'append-guards',
        'approvals',
        'binary-array',
        'budgets',
        'chain-export',
        'database',
      ],
      ...['conformance.', 'decided-activations', 'fences', 'idempotency', 'identity.', 'list-plans', 'log-proofs'],
      ...[
        'mcp-registry',
        'passkeys',
        'period',
        'receipts',
        'refused-keys',
        'registered-tools',
        'registry',
        'relations',
        'shadow-lanes',
      ],
      ...['signing-keys', 'standing', 'stop', 'store-', 'tail'],
    ),
  },
  orchestrator: {
    unit: 'gateway',
    source: `${gatewaySource}/orchestrator`,
    tests: gatewayTests(
      ...[
        'approvals',
        'locks',
        'lying',
        'model-reply',
        'run',
        'settings-at-kernel',
        'spend',
        'time-locks',
        'tool-names',
      ],
    ),
  },
  identity: {
    unit: 'gateway',
    source: `${gatewaySource}/identity`,
    tests: gatewayTests('audit', 'config', 'identity', 'invite-consent', 'mail-text', 'messenger', 'sessions'),
  },
  'gateway-store': {
    unit: 'gateway',
    source: `${gatewaySource}/store`,
    tests: gatewayTests(
      ...[
        'api-keys',
        'approvals',
        'audit',
        'database',
        'foreign-objects',
        'idempotency',
        'identity',
        'locks',
        'run',
        'spend',
        'tasks',
      ],
      ...['invite-consent', 'key-approvals.', 'members', 'messenger', 'owner-leaves', 'reports', 'sessions', 'tenancy'],
    ),
  },
};

/** A service without rooms of its own has one room: its store. */
const roomOfStore = (name) => ({
  unit: name,
  source: `services/${name}/src/store`,
  tests: [`services/${name}/tests/`],
});
const isCut = (name) => Object.values(cutRooms).some(({ source }) => source.startsWith(`services/${name}/`));

/**
 * The rooms by name: the folder whose files are mutated, and the test files by the beginning of their paths. Rooms of
 * one unit run together.
 */
export const rooms = {
  ...cutRooms,
  ...Object.fromEntries(
    [...services].filter((name) => !isCut(name)).map((name) => [`${name}-store`, roomOfStore(name)]),
  ),
};

/** The room that a source file belongs to. */
export function roomOf(path) {
  const found = Object.entries(rooms).find(([, { source }]) => path.startsWith(`${source}/`));
  if (found === undefined) throw new Error(`${path} is in no room`);
  return found[0];
}
