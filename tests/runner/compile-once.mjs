// Jest loads each module anew for each test file. What V8 made of it the first time is kept for the life of the worker.
import vm from 'node:vm';

const { SourceTextModule, compileFunction } = vm;
/** @type {Map<string, Buffer>} */
const modules = new Map();
/** @type {Map<string, Map<string, Buffer>>} By their parameters, then by their code. */
const functions = new Map();

/** Node 20 forgets whom to ask for an import in code that was kept. */
const isKept = (code) => !/\bimport\s*\(/.test(code);

vm.SourceTextModule = class extends SourceTextModule {
  constructor(code, options) {
    const cachedData = modules.get(code);
    super(code, cachedData === undefined ? options : { ...options, cachedData });
    if (cachedData === undefined && isKept(code)) modules.set(code, this.createCachedData());
  }
};

vm.compileFunction = (code, params, options) => {
  if (!isKept(code)) return compileFunction(code, params, options);
  const names = String(params);
  const kept = functions.get(names) ?? new Map();
  functions.set(names, kept);
  const cachedData = kept.get(code);
  if (cachedData !== undefined) return compileFunction(code, params, { ...options, cachedData });
  const compiled = compileFunction(code, params, { ...options, produceCachedData: true });
  if (compiled.cachedData !== undefined) kept.set(code, compiled.cachedData);
  return compiled;
};
