// What is mutated, and which tests may kill it: those that are about it, so that a room takes minutes and not hours. A mutant that lives may
// be killed by a test of another room; then the test that is about it is missing all the same.

const kernelSource = 'services/governance-kernel/src';
const gatewaySource = 'services/gateway/src';

/** Test files of one service, by the beginning of their names. */
const kernelTests = (...names) => names.map((name) => `services/governance-kernel/tests/${name}`);
const gatewayTests = (...names) => names.map((name) => `services/gateway/tests/${name}`);

/** By name: the folder whose files are mutated, and the test files by the beginning of their paths. Rooms of one unit run together. */
export const rooms = {
  crypto: { unit: 'crypto', source: 'packages/crypto/src', tests: ['packages/crypto/tests/'] },
  policy: { unit: 'policy', source: 'packages/policy/src', tests: ['packages/policy/tests/'] },
  verifier: { unit: 'verifier', source: 'packages/verifier/src', tests: ['packages/verifier/tests/'] },
  boundary: {
    unit: 'kernel',
    source: `${kernelSource}/boundary`,
    tests: kernelTests(
      ...[
        'all-or-none',
        'chat-once',
        'context',
        'dispatch',
        'evaluate',
        'execute-mcp',
        'fail-closed',
        'gates',
        'idempotency',
      ],
      ...['known-facts', 'outage', 'provenance', 'reply', 'same-names', 'self-test', 'tool-resolution', 'unsealed'],
    ),
  },
  approvals: {
    unit: 'kernel',
    source: `${kernelSource}/approvals`,
    tests: kernelTests('approval', 'chat-approval', 'context'),
  },
  budgets: {
    unit: 'kernel',
    source: `${kernelSource}/budgets`,
    tests: kernelTests('budget', 'ceilings', 'chat-spend'),
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
      ...['idempotency', 'log-proofs', 'mcp-registry', 'period', 'receipts', 'signing-keys', 'tail'],
    ),
  },
  orchestrator: {
    unit: 'gateway',
    source: `${gatewaySource}/orchestrator`,
    tests: gatewayTests('approvals', 'lying-kernel', 'model-reply', 'run', 'settings-at-kernel', 'spend', 'tool-names'),
  },
  identity: {
    unit: 'gateway',
    source: `${gatewaySource}/identity`,
    tests: gatewayTests('audit', 'config', 'identity'),
  },
  'gateway-store': {
    unit: 'gateway',
    source: `${gatewaySource}/store`,
    tests: gatewayTests(
      ...[
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
      ...['tenancy'],
    ),
  },
};

/** The room that a source file belongs to. */
export function roomOf(path) {
  const found = Object.entries(rooms).find(([, { source }]) => path.startsWith(`${source}/`));
  if (found === undefined) throw new Error(`${path} is in no room`);
  return found[0];
}
