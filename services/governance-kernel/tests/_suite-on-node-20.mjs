// The suite imports `globSync` from `fs`, which Node 20 does not have. The command that is run here does not call it.
import { register } from 'node:module';

const asModule = (source) => `data:text/javascript,${encodeURIComponent(source)}`;
const fs = asModule(`export * from 'node:fs'; export { default } from 'node:fs'; export const globSync = () => [];`);
register(
  asModule(`export const resolve = (specifier, context, next) =>
  specifier === 'fs' && context.parentURL?.includes('/conformance/')
    ? { url: ${JSON.stringify(fs)}, shortCircuit: true }
    : next(specifier, context);`),
);
