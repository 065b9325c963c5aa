// Native ESM: run through `make test` (node --experimental-vm-modules). Workspace packages resolve to their sources by the
// `countersign` export condition, so a test never sees a stale build.
export default {
  roots: ['contracts', 'packages', 'services', 'infra', 'tests'].map((root) => `<rootDir>/${root}`),
  testMatch: ['**/*.test.ts'],
  modulePathIgnorePatterns: ['<rootDir>/.*/dist/'],
  extensionsToTreatAsEsm: ['.ts'],
  testEnvironmentOptions: { customExportConditions: ['countersign', 'node', 'node-addons'] },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2023', parser: { syntax: 'typescript' } }, module: { type: 'es6' }, sourceMaps: 'inline' },
    ],
  },
  // A slow machine is no failure: a test that waits bounds each wait itself.
  testTimeout: 120_000,
  maxWorkers: 2,
  // Modules that a test file loaded stay in memory: a worker that holds too many of them is replaced.
  workerIdleMemoryLimit: '2GB',
};
