import ts from 'typescript';
import type { ImportGraph, SourceFile } from '../import-graph.ts';
import { dottedName, insideSrc, packageOf, unitOf } from '../import-graph.ts';

function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function findNode(root: ts.Node, matches: (node: ts.Node) => boolean): boolean {
  return matches(root) || ts.forEachChild(root, (node) => findNode(node, matches) || undefined) === true;
}

/** Only config.ts reads the environment. */
export function onlyConfigReadsEnvironment({ files }: ImportGraph): string[] {
  return files
    .filter(({ path }) => fileName(path) !== 'config.ts')
    .filter(({ syntax }) => findNode(syntax, isEnvironment))
    .map(({ path }) => `${path}: reads process.env; only config.ts may`);
}

function isEnvironment(node: ts.Node): boolean {
  return ts.isPropertyAccessExpression(node) && dottedName(node) === 'process.env';
}

/** Only the store of a service and packages/database import Prisma. */
export function onlyStoreImportsPrisma({ edges }: ImportGraph): string[] {
  return edges
    .filter(({ specifier, to }) => specifier.startsWith('@prisma/') || to?.includes('/generated/prisma/') === true)
    .filter(({ from }) => unitOf(from) !== 'packages/database' && insideSrc(from)?.startsWith('store/') !== true)
    .map(({ from, specifier }) => `${from}: imports ${specifier}; only store/ may`);
}

/**
 * The file with the ledger's transaction. For every decision it writes whole sets in binary form, in one packet of
 * prepared statements. All other code of a service reaches PostgreSQL through Prisma (ADR 0009).
 */
const ledgerFile = 'services/governance-kernel/src/store/ledger-store.ts';

/** Only the ledger imports the bare driver. */
export function onlyLedgerImportsDriver({ edges }: ImportGraph): string[] {
  return edges
    .filter(({ from, specifier }) => from.startsWith('services/') && packageOf(specifier) === 'pg')
    .filter(({ from }) => from !== ledgerFile)
    .map(({ from }) => `${from}: imports pg; only the ledger's store may, the rest uses Prisma`);
}

/** SQL can write where a type only allows reads. Code outside of store/ therefore uses only the models of a reader. */
export function onlyStoreSpeaksSql({ files }: ImportGraph): string[] {
  return files
    .filter(({ path }) => path.startsWith('services/') && insideSrc(path)?.startsWith('store/') !== true)
    .filter(({ syntax }) => findNode(syntax, isRawStatement))
    .map(({ path }) => `${path}: speaks SQL; only store/ may`);
}

const rawStatement = /^\$(?:query|execute)Raw(?:Unsafe)?$/;

function isRawStatement(node: ts.Node): boolean {
  if (!ts.isPropertyAccessExpression(node) && !ts.isBindingElement(node)) return false;
  return ts.isIdentifier(node.name) && rawStatement.test(node.name.text);
}

/** Only app.ts of a service and service-kit import Express. */
export function onlyAppImportsExpress({ edges }: ImportGraph): string[] {
  return edges
    .filter(({ specifier }) => packageOf(specifier) === 'express')
    .filter(({ from }) => unitOf(from) !== 'packages/service-kit' && insideSrc(from) !== 'app.ts')
    .map(({ from }) => `${from}: imports express; only app.ts and service-kit may`);
}

/** Only packages/messaging imports amqplib. */
export function onlyMessagingImportsAmqp({ edges }: ImportGraph): string[] {
  return edges
    .filter(({ specifier, from }) => packageOf(specifier) === 'amqplib' && unitOf(from) !== 'packages/messaging')
    .map(({ from }) => `${from}: imports amqplib; only packages/messaging may`);
}

const yamlReader = 'packages/policy/src/read-yaml.ts';
const readsYaml = /^(?:parse|parseDocument|parseAllDocuments|Composer|Parser|Lexer)$/;

/**
 * Members write YAML, so it may be hostile. Only one file parses it, and limits its depth before the library recurses.
 */
export function onlyOneFileReadsYaml({ files }: ImportGraph): string[] {
  return files
    .filter(({ path, syntax }) => path !== yamlReader && findNode(syntax, isYamlReader))
    .map(({ path }) => `${path}: reads YAML; only ${yamlReader} may`);
}

function isYamlReader(node: ts.Node): boolean {
  if (!ts.isImportDeclaration(node) && !ts.isExportDeclaration(node)) return false;
  const { moduleSpecifier: from } = node;
  if (from === undefined || !ts.isStringLiteral(from) || packageOf(from.text) !== 'yaml') return false;
  return !findNode(node, ts.isImportSpecifier) || findNode(node, isReaderName);
}

function isReaderName(node: ts.Node): boolean {
  return ts.isImportSpecifier(node) && readsYaml.test((node.propertyName ?? node.name).text);
}

const clientLibraries = new Set(['pg', 'nodemailer', 'undici', 'openai', '@prisma/client']);
const clientClass = /^(?:pg\.)?(?:Pool|Client|Agent|PrismaClient|OpenAI)$/;
const clientFactory = /^(?:nodemailer\.)?(?:createTransport|open(?:Service)?Database|createClient)$/;

/**
 * The connections of a service are created in one place, so that one close() ends them all. Only context.ts constructs
 * a client, or a file whose functions only context.ts (or the wiring beside it) calls.
 */
export function onlyContextConstructsClients({ files, edges }: ImportGraph): string[] {
  const isWiring = (path: string): boolean => !(insideSrc(path) ?? '/').includes('/');
  return files
    .filter(({ path }) => path.startsWith('services/') && insideSrc(path) !== 'context.ts')
    .filter((file) => constructsClient(file, edges))
    .flatMap(({ path }) => edges.filter(({ to, typeOnly }) => to === path && !typeOnly))
    .filter(({ from }) => !isWiring(from))
    .map(({ from, specifier }) => `${from}: constructs a client through ${specifier}; only context.ts may`);
}

function constructsClient({ path, syntax }: SourceFile, edges: ImportGraph['edges']): boolean {
  const hasLibrary = edges.some(
    ({ from, specifier, typeOnly }) => from === path && !typeOnly && clientLibraries.has(packageOf(specifier)),
  );
  return findNode(syntax, (node) => {
    if (ts.isCallExpression(node)) return clientFactory.test(dottedName(node.expression));
    return hasLibrary && ts.isNewExpression(node) && clientClass.test(dottedName(node.expression));
  });
}

/**
 * Code that can sign can forge. Only the kernel, the test kit and the command line sign. The command line signs trust
 * lists and cosignatures, with keys of its caller.
 */
export function onlyKernelSigns({ edges }: ImportGraph): string[] {
  const allowed = new Set([
    ...['context', 'signers'].map((name) => `services/governance-kernel/src/${name}.ts`),
    'packages/cli/src/trust/root-key.ts',
    'packages/cli/src/witness/witness-key.ts',
  ]);
  return edges
    .filter(({ specifier }) => specifier === '@countersign/crypto/signing')
    .filter(({ from }) => !allowed.has(from) && unitOf(from) !== 'packages/testkit')
    .map(({ from }) => `${from}: may not sign`);
}

const portable = new Set([
  'contracts',
  'packages/crypto',
  'packages/policy',
  'packages/receipts',
  'packages/verifier',
  'packages/console',
]);
/** Entry points for Node only. A browser never loads them. */
const nodeEntries = new Set([
  'packages/crypto/src/node.ts',
  'packages/crypto/src/signing.ts',
  'packages/crypto/src/native-signing.ts',
  'packages/verifier/src/cli.ts',
  'packages/verifier/src/run-cli.ts',
]);

/** The console and the CLI run the same code, so these packages use no module of Node. */
export function portableUsesNoNode({ edges, files }: ImportGraph): string[] {
  const imports = edges
    .filter(
      ({ from, specifier }) => specifier.startsWith('node:') && portable.has(unitOf(from)) && !nodeEntries.has(from),
    )
    .map(({ from, specifier }) => `${from}: imports ${specifier}, which a browser does not have`);
  const globals = files
    .filter(({ path }) => portable.has(unitOf(path)) && !nodeEntries.has(path))
    .filter(({ syntax }) => findNode(syntax, (node) => ts.isIdentifier(node) && node.text === 'Buffer'))
    .map(({ path }) => `${path}: uses Buffer, which a browser does not have`);
  return [...imports, ...globals];
}

/** A portable entry never imports a Node entry. */
export function nodeEntriesStayApart({ edges }: ImportGraph): string[] {
  return edges
    .filter(
      ({ from, to }) => to !== null && nodeEntries.has(to) && portable.has(unitOf(from)) && !nodeEntries.has(from),
    )
    .map(({ from, specifier }) => `${from}: imports the Node entry ${specifier}`);
}

const testMaterial = new Set(['@countersign/testkit', '@jest/globals', 'fast-check']);

/** Production code imports no test material. infra/local is excluded, because it starts the scripted model. */
export function sourceImportsNoTestkit({ edges }: ImportGraph): string[] {
  return edges
    .filter(({ specifier }) => testMaterial.has(packageOf(specifier)) || specifier === '@countersign/contracts/testing')
    .filter(({ from }) => unitOf(from) !== 'packages/testkit' && unitOf(from) !== 'infra/local')
    .map(({ from, specifier }) => `${from}: source imports ${specifier}`);
}
