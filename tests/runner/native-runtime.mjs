// Jest runs each test file in its own context and compiles and runs every module again in it, which takes over a second
// for each of some hundred files. Here Node loads the modules, as for the services. A worker loads each module once,
// and tests run the code of production.
import * as asyncHooks from 'node:async_hooks';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';
import Runtime from 'jest-runtime';
import { setJestGlobals } from './jest-globals.mjs';
import { SerialStorage } from './serial-storage.mjs';
// An import instead of a flag of Node: processes that tests start would inherit the flag, but they must run the build.
import './typescript.mjs';

/**
 * `Error`, `Number` and all other built-ins of the language. Jest's context has its own ones, and `expect` compares by
 * identity.
 */
const builtIn = vm
  .runInNewContext('Object.getOwnPropertyNames(globalThis)')
  .filter((name) => typeof globalThis[name] === 'function' && /^[A-Z]/.test(name));

const forJest = { ...asyncHooks, AsyncLocalStorage: SerialStorage };

let files = 0;

export default class NativeRuntime extends Runtime {
  constructor(config, environment, ...rest) {
    super(config, environment, ...rest);
    // Replaces a module for Jest alone. Only Jest requests modules of Node here, since Node itself loads tests and
    // sources.
    const required = this.coreModule.require.bind(this.coreModule);
    this.coreModule.require = (name) => (name === 'node:async_hooks' ? forJest : required(name));
    for (const name of builtIn) environment.global[name] = globalThis[name];
    // The active mutant. The sources read it at run time.
    globalThis.__stryker__ = environment.global.__stryker__;
  }

  setGlobalsForRuntime(globals) {
    setJestGlobals(globals);
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  async unstable_importModule(path) {
    files += 1;
    await import(`${pathToFileURL(path).href}?file=${files}`);
  }
}
