import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';
import { explainedSuppression } from './tests/lint/explained-suppression.mjs';
import { explainedTime } from './tests/lint/explained-time.mjs';

const generated = ['**/.*/', '**/dist/', '**/generated/', '**/node_modules/', 'coverage/', '.countersign/'];

/**
 * The rules of STYLE.md that a linter can check. No written file is exempt. Only the index files of contracts may use a
 * wildcard export.
 */
const style = {
  'max-lines': ['error', { max: 400, skipBlankLines: false, skipComments: false }],
  'max-params': ['error', 5],
  complexity: ['error', 20],
  eqeqeq: 'error',
  'no-control-regex': 'error',
  'no-nested-ternary': 'error',
  'no-param-reassign': 'error',
  'no-var': 'error',
  'prefer-const': 'error',
  'no-warning-comments': ['error', { terms: ['todo', 'fixme', 'xxx', 'hack'], location: 'start' }],
  'no-restricted-syntax': [
    'error',
    { selector: 'ExportDefaultDeclaration', message: 'Export by name.' },
    { selector: 'ExportAllDeclaration', message: 'Export each name explicitly.' },
    { selector: 'ForInStatement', message: 'Iterate over Object.keys or Object.entries.' },
  ],
  'countersign/explained-suppression': 'error',
};

/**
 * The files that every decision runs through. V8 copies objects with a spread or a rest in its slow paths, and what they
 * make has many shapes. Profiles showed a quarter of a decision there.
 */
const decisionPath = [
  'packages/policy/src/{decide,evaluate-rules,fence-scopes}.ts',
  'packages/receipts/src/{decision-statement,hashes,judged-hash,payload-of,payload-text,receipt-of,record-text}.ts',
  'services/governance-kernel/src/call/{demand,judged}.ts',
  'services/governance-kernel/src/controls/fences/in-force.ts',
  'services/governance-kernel/src/controls/policy/{policy-fact,settings-fact}.ts',
  'services/governance-kernel/src/decision/{approval-fact,conclude-call,facts,known-call,limiting-budgets,prepare-call,reply,rule-evaluation,statement-of}.ts',
  'services/governance-kernel/src/ledger/{batch,commit,group-commit,known-facts,seal}.ts',
  'services/governance-kernel/src/routes/evaluation/evaluate.ts',
];
const oneShape = [
  { selector: 'ObjectExpression > SpreadElement', message: 'Name all members: a copy is slow, and has another shape.' },
  { selector: 'ObjectPattern > RestElement', message: 'Name the members that are read: the rest would be a copy.' },
  {
    selector: 'UnaryExpression[operator="delete"]',
    message: 'Set the member to undefined: delete makes an object slow.',
  },
];

/**
 * All constants have one style. PascalCase is for zod types and classes, and snake_case for a value that becomes the
 * member with that name. A destructured variable may keep the name of its member.
 */
const names = {
  '@typescript-eslint/naming-convention': [
    'error',
    { selector: 'variable', modifiers: ['destructured'], format: null },
    {
      selector: 'variable',
      format: ['camelCase', 'PascalCase', 'snake_case'],
      leadingUnderscore: 'allow',
      custom: { regex: '^[A-Z][A-Z0-9]+$', match: false },
    },
  ],
};

const typed = {
  '@typescript-eslint/await-thenable': 'error',
  '@typescript-eslint/ban-ts-comment': ['error', { 'ts-expect-error': 'allow-with-description' }],
  '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'separate-type-imports' }],
  '@typescript-eslint/no-array-delete': 'error',
  '@typescript-eslint/no-explicit-any': 'error',
  '@typescript-eslint/no-floating-promises': 'error',
  '@typescript-eslint/no-for-in-array': 'error',
  '@typescript-eslint/no-implied-eval': 'error',
  '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: false }],
  '@typescript-eslint/no-non-null-assertion': 'error',
  '@typescript-eslint/no-unnecessary-type-assertion': 'error',
  '@typescript-eslint/no-unsafe-argument': 'error',
  '@typescript-eslint/no-unsafe-assignment': 'error',
  '@typescript-eslint/no-unsafe-call': 'error',
  '@typescript-eslint/no-unsafe-member-access': 'error',
  '@typescript-eslint/no-unsafe-return': 'error',
  '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', ignoreRestSiblings: true }],
  '@typescript-eslint/only-throw-error': 'error',
  '@typescript-eslint/prefer-promise-reject-errors': 'error',
  '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
  '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
  '@typescript-eslint/switch-exhaustiveness-check': [
    'error',
    { considerDefaultExhaustiveForUnions: true, requireDefaultForNonUnion: true },
  ],
};

/**
 * The types of other packages come from their build. A program with the sources of all packages takes twice the memory.
 */
function programOf(folder) {
  return { project: `./${folder}/tsconfig.lint.json`, tsconfigRootDir: import.meta.dirname };
}

const globalsOfNode = Object.fromEntries(Object.getOwnPropertyNames(globalThis).map((name) => [name, 'readonly']));

export default defineConfig(
  { ignores: generated },
  {
    files: ['**/*.ts', '**/*.tsx'],
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: programOf('.'),
    },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    plugins: {
      '@typescript-eslint': tseslint.plugin,
      countersign: { rules: { 'explained-suppression': explainedSuppression, 'explained-time': explainedTime } },
    },
    rules: { ...style, ...names, ...typed },
  },
  {
    // The compiler does not read scripts.
    files: ['**/*.mjs'],
    languageOptions: { globals: globalsOfNode },
    rules: { 'no-undef': 'error', 'no-unused-vars': ['error', { argsIgnorePattern: '^_', ignoreRestSiblings: true }] },
  },
  {
    // Every export of these files is public, so a list of names would only repeat the files.
    files: ['contracts/src/*/index.ts'],
    rules: {
      'no-restricted-syntax': [
        ...style['no-restricted-syntax'].filter(({ selector }) => selector !== 'ExportAllDeclaration'),
      ],
    },
  },
  {
    files: decisionPath,
    rules: { 'no-restricted-syntax': [...style['no-restricted-syntax'], ...oneShape] },
  },
  ...['contracts', 'services'].map((folder) => ({
    files: [`${folder}/**`],
    languageOptions: { parserOptions: programOf(folder) },
  })),
  {
    // Browser code is checked with the types of browsers and without those of Node.
    files: ['packages/console/src/**'],
    languageOptions: {
      parserOptions: { project: './packages/console/tsconfig.json', tsconfigRootDir: import.meta.dirname },
    },
  },
  {
    files: ['packages/report/src/page/**'],
    languageOptions: {
      parserOptions: { project: './packages/report/tsconfig.json', tsconfigRootDir: import.meta.dirname },
    },
  },
  {
    files: ['packages/report/tests/**'],
    languageOptions: {
      parserOptions: { project: './packages/report/tests/tsconfig.json', tsconfigRootDir: import.meta.dirname },
    },
  },
  {
    // Tests of components are checked with the types of browsers and of Node.
    files: ['packages/console/tests/**'],
    languageOptions: {
      parserOptions: { project: './packages/console/tests/tsconfig.json', tsconfigRootDir: import.meta.dirname },
    },
  },
  {
    // Tests, their helper modules, and the test kit.
    files: ['**/*.test.{ts,tsx}', '**/tests/**/_*.ts', 'packages/testkit/src/*.ts'],
    rules: { 'countersign/explained-time': 'error' },
  },
  {
    files: ['**/src/**/*.{ts,tsx}'],
    rules: {
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: false, skipComments: false, IIFEs: true }],
      // Off in tests: a failed setup leaves variables unset at teardown, although their types exclude this.
      '@typescript-eslint/no-unnecessary-condition': 'error',
      // Services log through their logger. Commands write to process.stdout.
      'no-console': 'error',
      'no-restricted-properties': [
        'error',
        {
          object: 'AbortSignal',
          property: 'timeout',
          message:
            'Use startDeadline of contracts. A timeout signal that is joined with another one may be garbage-collected, and then never aborts.',
        },
      ],
      'no-restricted-imports': [
        'error',
        {
          paths: [
            { name: 'node:test', message: 'Tests live in tests/.' },
            { name: 'crypto', message: 'Say node:crypto.' },
            { name: 'fs', message: 'Say node:fs.' },
          ],
          patterns: [{ group: ['**/tests/**'], message: 'Source never imports a test.' }],
        },
      ],
    },
  },
);
