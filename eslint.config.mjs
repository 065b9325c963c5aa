import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';
import { explainedSuppression } from './tests/lint/explained-suppression.mjs';
import { explainedTime } from './tests/lint/explained-time.mjs';

const generated = ['**/.*/', '**/dist/', '**/generated/', '**/node_modules/', 'coverage/', '.countersign/'];

/** Rules of STYLE.md that a machine can hold. There is no list of exempted files, and no rule is off for a folder of src but the one marked below. */
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
    { selector: 'ExportAllDeclaration', message: 'Name what is exported, one by one.' },
    { selector: 'ForInStatement', message: 'Iterate over Object.keys or Object.entries.' },
  ],
  'countersign/explained-suppression': 'error',
};

/**
 * One style of constants, whatever they hold. PascalCase is for zod types and classes, snake_case for a value that goes into the
 * member of that name; what is destructured keeps the name that its owner gave it.
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

/** Types of other packages come from what was built: a program of all sources takes twice the memory. */
function programOf(folder) {
  return { project: `./${folder}/tsconfig.lint.json`, tsconfigRootDir: import.meta.dirname };
}

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
    // Every export of a contract is public: a list by hand would only repeat the files.
    files: ['contracts/src/*/index.ts'],
    rules: {
      'no-restricted-syntax': [
        ...style['no-restricted-syntax'].filter(({ selector }) => selector !== 'ExportAllDeclaration'),
      ],
    },
  },
  ...['contracts', 'services'].map((folder) => ({
    files: [`${folder}/**`],
    languageOptions: { parserOptions: programOf(folder) },
  })),
  {
    // Code for a browser knows the types of browsers, and none of Node.
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
    // Tests of components know both.
    files: ['packages/console/tests/**'],
    languageOptions: {
      parserOptions: { project: './packages/console/tests/tsconfig.json', tsconfigRootDir: import.meta.dirname },
    },
  },
  {
    // Tests, and what stands beside them.
    files: ['**/*.test.{ts,tsx}', '**/tests/**/_*.ts', 'packages/testkit/src/*.ts'],
    rules: { 'countersign/explained-time': 'error' },
  },
  {
    files: ['**/src/**/*.{ts,tsx}'],
    rules: {
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: false, skipComments: false, IIFEs: true }],
      // Types do not say what a test has not set up yet when it is torn down; in source they have to.
      '@typescript-eslint/no-unnecessary-condition': 'error',
      // A service logs through its logger, a command writes to process.stdout on purpose.
      'no-console': 'error',
      'no-restricted-properties': [
        'error',
        {
          object: 'AbortSignal',
          property: 'timeout',
          message:
            'Use startDeadline of contracts: joined with another signal, this one is collected and never aborts.',
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
