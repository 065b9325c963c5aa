// What is mutated, and which suites may kill it. A mutant survives when no suite of its room fails, whatever another room would say.

const kernel = ['services/governance-kernel'];
const gateway = ['services/gateway'];

/** By name: the folder of `src` whose files are mutated, and the folders whose tests are run. Rooms with the same suites run together. */
export const rooms = {
  crypto: { source: 'packages/crypto/src', suites: ['packages/crypto'] },
  policy: { source: 'packages/policy/src', suites: ['packages/policy'] },
  verifier: { source: 'packages/verifier/src', suites: ['packages/verifier'] },
  boundary: { source: 'services/governance-kernel/src/boundary', suites: kernel },
  approvals: { source: 'services/governance-kernel/src/approvals', suites: kernel },
  budgets: { source: 'services/governance-kernel/src/budgets', suites: kernel },
  'kernel-store': { source: 'services/governance-kernel/src/store', suites: kernel },
  orchestrator: { source: 'services/gateway/src/orchestrator', suites: gateway },
  identity: { source: 'services/gateway/src/identity', suites: gateway },
  'gateway-store': { source: 'services/gateway/src/store', suites: gateway },
};

/** The room that a source file belongs to. */
export function roomOf(path) {
  const found = Object.entries(rooms).find(([, { source }]) => path.startsWith(`${source}/`));
  if (found === undefined) throw new Error(`${path} is in no room`);
  return found[0];
}
