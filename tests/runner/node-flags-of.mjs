/**
 * Flags that every process with a Prisma client needs: Node 20 miscompiles inlined calls from JavaScript to WASM under load.
 * @returns {string[]}
 */
export function nodeFlags(version = process.versions.node) {
  return version.startsWith('20.') ? ['--no-turbo-inline-js-wasm-calls'] : [];
}
