/**
 * Flags for every process of ours. Node 20 miscompiles inlined calls from JavaScript to WASM under load, as Prisma's
 * client makes them. Objects of a request are dead within milliseconds: with 32 MB for young objects a third less time
 * goes into moving them.
 * @returns {string[]}
 */
export function nodeFlags(version = process.versions.node) {
  const ofEvery = ['--max-semi-space-size=32'];
  return version.startsWith('20.') ? [...ofEvery, '--no-turbo-inline-js-wasm-calls'] : ofEvery;
}

/**
 * The same for tests, which live for seconds: no time goes into optimising WASM.
 * @returns {string[]}
 */
export function testFlags() {
  return [...nodeFlags(), '--liftoff-only', '--no-warnings'];
}
