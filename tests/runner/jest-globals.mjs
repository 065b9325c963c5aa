// `@jest/globals` for modules that Node loads. Each name refers to Jest's object for the running test file.
let current = {};

/** @param {Record<string, Function>} globals of the test file that starts */
export function setJestGlobals(globals) {
  current = globals;
}

const present = (name) =>
  new Proxy(() => undefined, {
    apply: (_target, self, args) => Reflect.apply(current[name], self, args),
    get: (_target, member) => current[name][member],
  });

export const afterAll = present('afterAll');
export const afterEach = present('afterEach');
export const beforeAll = present('beforeAll');
export const beforeEach = present('beforeEach');
export const describe = present('describe');
export const expect = present('expect');
export const it = present('it');
