// Run through `make test`. Node loads the modules (tests/runner/native-runtime.mjs). Workspace packages resolve to
// their sources, so a test never uses an outdated build.
export default {
  roots: ['contracts', 'packages', 'services', 'infra', 'tests'].map((root) => `<rootDir>/${root}`),
  testMatch: ['**/*.test.{ts,tsx}'],
  modulePathIgnorePatterns: ['<rootDir>/.*/dist/'],
  runtime: '<rootDir>/tests/runner/native-runtime.mjs',
  testEnvironment: '<rootDir>/tests/runner/environment.mjs',
  testSequencer: '<rootDir>/tests/runner/shuffled.mjs',
  transform: {},
  // A slow machine must not fail a test. Each test limits its own waits.
  testTimeout: 900_000,
  // Many tests wait for processes that they started. Three workers keep two cores busy.
  maxWorkers: 3,
  // A worker without open handles needs up to 0.4 s to end on a busy machine. The default limit of Jest is 0.5 s.
  workerGracefulExitTimeout: 5_000,
  // The modules of a test file stay in memory. A worker above this limit is replaced.
  workerIdleMemoryLimit: '2GB',
};
