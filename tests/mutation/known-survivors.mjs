/**
 * Mutants that live, each with why. `equivalent`: nothing that anybody could see differs, so they are not counted. `left`: something
 * differs, and it is not worth a test; they count as survivors. `line` is the line of source on which the mutant begins, `before` what
 * stands right before it there, where that is needed to tell it from others. An entry whose mutant is gone, or is killed, fails
 * `make mutate`.
 */
export const knownSurvivors = [
  {
    kind: 'equivalent',
    file: 'packages/crypto/src/checkpoint.ts',
    line: "const [origin = '', size = '', root = '', ...rest] = text.split('\\n');",
    from: "''",
    to: '"Stryker was here!"',
    why: 'A text has a first line; without a second or third one there is no last empty line either, and it is refused for that.',
  },
  {
    kind: 'equivalent',
    file: 'packages/crypto/src/strict-json.ts',
    line: "const [, sign = '', whole = '', fraction = '', exponent = '0'] =",
    before: 'sign = ',
    from: "''",
    to: '"Stryker was here!"',
    why: 'The group takes part in every match, and what is not a number has been refused by JSON.parse.',
  },
  {
    kind: 'equivalent',
    file: 'packages/crypto/src/strict-json.ts',
    line: 'frame.names?.add(name);',
    from: 'frame.names?.add',
    to: 'frame.names.add',
    why: 'Only in an object does a member name come next, and an object has its names.',
  },
  {
    kind: 'equivalent',
    file: 'packages/crypto/src/canonical-json.ts',
    line: 'if (prototype !== Array.prototype && !(Array.isArray(prototype) && isRootPrototype(Object.getPrototypeOf(prototype))))',
    before: 'if (',
    from: 'prototype !== Array.prototype',
    to: 'true',
    why: 'A shorter way to the same answer: what is asked of arrays of other realms holds of ours.',
  },
  {
    kind: 'equivalent',
    file: 'packages/crypto/src/signed-note.ts',
    line: "const [, name = '', encoded = ''] = /^— (\\S+) (\\S+)$/u.exec(line) ?? [];",
    from: "''",
    to: '"Stryker was here!"',
    why: 'Without a match the name has white space or is empty, and no key may be named so; then nothing looks at the rest.',
  },
  {
    kind: 'left',
    file: 'packages/policy/src/inspect-expression.ts',
    line: "if (pattern?.op !== 'value' || typeof pattern.args !== 'string') {",
    from: "typeof pattern.args !== 'string'",
    to: 'false',
    why: 'The engine of linear patterns refuses what is no text with the same code; this line says it in better words.',
  },
];
