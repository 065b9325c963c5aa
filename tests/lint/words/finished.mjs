/** Folders and files whose words are swept. Each is checked by `make lint`, and none leaves the list. */
export const finished = [
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'README.md',
  'docs/README.md',
  'docs/architecture.md',
  'docs/budgets.md',
  'docs/conformance.md',
  'docs/decision-cycle.md',
  'docs/how-to',
  'docs/identity.md',
  'docs/limits.md',
  'docs/mcp-servers.md',
  'docs/model-calls.md',
  'docs/operations.md',
  'docs/passkeys.md',
  'docs/policy-language.md',
  'docs/quickstart.md',
  'docs/relations.md',
  'docs/telemetry.md',
  'docs/vocabulary.md',
  'tests/lint',
];

/** Subjects of commits from this day on are checked. */
export const subjectsSince = '2026-11-29';
