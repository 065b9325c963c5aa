// Jest gives each test file a context of its own, and compiles and runs every module again in it: over a second for
// each of some hundred files. Here Node loads the modules, as it does for the services: a worker loads each once, and
// tests see what production sees.
import * as asyncHooks from 'node:async_hooks';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';
import Runtime from 'jest-runtime';
import { setJestGlobals } from './jest-globals.mjs';
import { SerialStorage } from './serial-storage.mjs';
// Not by a flag: what tests start as processes of their own takes the flags over, and runs what was built.
import './typescript.mjs';

/** `Error`, `Number` and all that the language brings: Jest's own context has others, and `expect` compares by identity. */
const builtIn = vm
  .runInNewContext('Object.getOwnPropertyNames(globalThis)')
  .filter((name) => typeof globalThis[name] === 'function' && /^[A-Z]/.test(name));

const forJest = { ...asyncHooks, AsyncLocalStorage: SerialStorage };

let files = 0;

export default class NativeRuntime extends Runtime {
  constructor(config, environment, ...rest) {
    super(config, environment, ...rest);
    // Jest alone asks the runtime for modules of Node: tests and sources are loaded by Node.
    const required = this.coreModule.require.bind(this.coreModule);
    this.coreModule.require = (name) => (name === 'node:async_hooks' ? forJest : required(name));
    for (const name of builtIn) environment.global[name] = globalThis[name];
    // Which mutant lives: the sources ask for it where they run.
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
