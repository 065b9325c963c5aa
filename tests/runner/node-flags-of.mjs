/**
 * Flags for all our processes. Node 20 miscompiles inlined calls from JavaScript to WASM under load. Prisma's
 * client makes such calls. Objects of a request live for milliseconds. With 32 MB for young objects, the collector
 * spends a third less time on moving them.
 * @returns {string[]}
 */
export function nodeFlags(version = process.versions.node) {
  const ofEvery = ['--max-semi-space-size=32'];
  return version.startsWith('20.') ? [...ofEvery, '--no-turbo-inline-js-wasm-calls'] : ofEvery;
}

/**
 * The flags for tests. Their processes live for seconds, so they do not optimise WASM.
 * @returns {string[]}
 */
export function testFlags() {
  return [...nodeFlags(), '--liftoff-only', '--no-warnings'];
}
