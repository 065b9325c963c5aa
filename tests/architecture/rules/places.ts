import ts from 'typescript';
import type { ImportGraph, SourceFile } from '../import-graph.ts';
import { dottedName, insideSrc, packageOf, unitOf } from '../import-graph.ts';

function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function findNode(root: ts.Node, matches: (node: ts.Node) => boolean): boolean {
  return matches(root) || ts.forEachChild(root, (node) => findNode(node, matches) || undefined) === true;
}

/** The environment is read once, in config.ts. */
export function onlyConfigReadsEnvironment({ files }: ImportGraph): string[] {
  return files
    .filter(({ path }) => fileName(path) !== 'config.ts')
    .filter(({ syntax }) => findNode(syntax, isEnvironment))
    .map(({ path }) => `${path}: reads process.env; only config.ts may`);
}

function isEnvironment(node: ts.Node): boolean {
  return ts.isPropertyAccessExpression(node) && dottedName(node) === 'process.env';
}

/** Prisma is known by the store of a service and by packages/database. */
export function onlyStoreImportsPrisma({ edges }: ImportGraph): string[] {
  return edges
    .filter(({ specifier, to }) => specifier.startsWith('@prisma/') || to?.includes('/generated/prisma/') === true)
    .filter(({ from }) => unitOf(from) !== 'packages/database' && insideSrc(from)?.startsWith('store/') !== true)
    .map(({ from, specifier }) => `${from}: imports ${specifier}; only store/ may`);
}

/**
 * The ledger's transaction: its statements write sets in their binary form, travel in one packet and are prepared by name, on the way
 * of every decision. Everything else of a service speaks to PostgreSQL through Prisma (ADR 0009).
 */
const ledgerFile = 'services/governance-kernel/src/store/ledger-store.ts';

/** The bare driver is the ledger's. */
export function onlyLedgerImportsDriver({ edges }: ImportGraph): string[] {
  return edges
    .filter(({ from, specifier }) => from.startsWith('services/') && packageOf(specifier) === 'pg')
    .filter(({ from }) => from !== ledgerFile)
    .map(({ from }) => `${from}: imports pg; only the ledger's store may, the rest uses Prisma`);
}

/** SQL could write where a type says that it reads, so code outside of store/ uses only the models of a reader. */
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

/** Express stays where requests enter: app.ts of a service, and service-kit. */
export function onlyAppImportsExpress({ edges }: ImportGraph): string[] {
  return edges
    .filter(({ specifier }) => packageOf(specifier) === 'express')
    .filter(({ from }) => unitOf(from) !== 'packages/service-kit' && insideSrc(from) !== 'app.ts')
    .map(({ from }) => `${from}: imports express; only app.ts and service-kit may`);
}

/** amqplib is a detail of packages/messaging. */
export function onlyMessagingImportsAmqp({ edges }: ImportGraph): string[] {
  return edges
    .filter(({ specifier, from }) => packageOf(specifier) === 'amqplib' && unitOf(from) !== 'packages/messaging')
    .map(({ from }) => `${from}: imports amqplib; only packages/messaging may`);
}

const yamlReader = 'packages/policy/src/read-yaml.ts';
const readsYaml = /^(?:parse|parseDocument|parseAllDocuments|Composer|Parser|Lexer)$/;

/** Texts in YAML come from members. The one reader bounds their depth before the library recurses; others use the documents that it returns. */
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
 * A service's connections are made in one place, so that one close() ends them all. A file that constructs a client is
 * context.ts, or a file whose functions only context.ts (or the wiring beside it) calls.
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

/** Code that can sign can forge: one service and the test kit. The command signs trust lists with the root key of its caller. */
export function onlyKernelSigns({ edges }: ImportGraph): string[] {
  const allowed = new Set([
    ...['context', 'signers'].map((name) => `services/governance-kernel/src/${name}.ts`),
    'packages/cli/src/trust/root-key.ts',
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
/** Separate entry points for Node, which a browser never loads. */
const nodeEntries = new Set([
  'packages/crypto/src/node.ts',
  'packages/crypto/src/signing.ts',
  'packages/crypto/src/native-signing.ts',
  'packages/verifier/src/cli.ts',
]);

/** The console and the CLI run the same bytes, so these packages use nothing of Node's. */
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

/** The portable entry never pulls a Node entry in. */
export function nodeEntriesStayApart({ edges }: ImportGraph): string[] {
  return edges
    .filter(
      ({ from, to }) => to !== null && nodeEntries.has(to) && portable.has(unitOf(from)) && !nodeEntries.has(from),
    )
    .map(({ from, specifier }) => `${from}: imports the Node entry ${specifier}`);
}

/** Test material never runs in production. */
export function sourceImportsNoTestkit({ edges }: ImportGraph): string[] {
  return edges
    .filter(({ specifier }) => ['@countersign/testkit', '@jest/globals', 'fast-check'].includes(packageOf(specifier)))
    .filter(({ from }) => unitOf(from) !== 'packages/testkit' && unitOf(from) !== 'infra/local')
    .map(({ from, specifier }) => `${from}: source imports ${specifier}`);
}
