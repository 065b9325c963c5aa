// Run through `make test`. Node loads the modules itself (tests/runner/native-runtime.mjs): workspace packages resolve to their sources, so a
// test never sees a stale build.
export default {
  roots: ['contracts', 'packages', 'services', 'infra', 'tests'].map((root) => `<rootDir>/${root}`),
  testMatch: ['**/*.test.{ts,tsx}'],
  modulePathIgnorePatterns: ['<rootDir>/.*/dist/'],
  runtime: '<rootDir>/tests/runner/native-runtime.mjs',
  testEnvironment: '<rootDir>/tests/runner/environment.mjs',
  testSequencer: '<rootDir>/tests/runner/shuffled.mjs',
  transform: {},
  // A slow machine is no failure: a test that waits bounds each wait itself.
  testTimeout: 300_000,
  // Many tests wait for processes that they started: three at a time keep two cores busy.
  maxWorkers: 3,
  // A worker that left nothing open takes 0.3 to 0.4 s to end on a busy machine. Jest reports a leak after 0.5 s by default.
  workerGracefulExitTimeout: 5_000,
  // Modules that a test file loaded stay in memory: a worker that holds too many of them is replaced.
  workerIdleMemoryLimit: '2GB',
};
