import { serviceNames } from '@countersign/services';
import type { ImportGraph } from '../import-graph.ts';
import { packageOf, unitOf } from '../import-graph.ts';

const contracts = 'contracts';
const crypto = 'packages/crypto';
const policy = 'packages/policy';
const receipts = 'packages/receipts';
const verifier = 'packages/verifier';
const database = 'packages/database';
const messaging = 'packages/messaging';
const delivery = 'packages/delivery';
const audit = 'packages/audit';
const idempotency = 'packages/idempotency';
const whatIf = 'packages/what-if';
const judge = 'packages/judge';
const report = 'packages/report';
const webConsole = 'packages/console';
const serviceKit = 'packages/service-kit';
const testkit = 'packages/testkit';
const ofServices = [
  contracts,
  crypto,
  policy,
  receipts,
  verifier,
  database,
  messaging,
  delivery,
  audit,
  idempotency,
  whatIf,
  judge,
  serviceKit,
];

/** The entries of a service that a package imports: the local boundary, and the crash-safe files. */
const localBoundary = {
  unit: 'services/governance-kernel',
  specifiers: ['local-boundary', 'durable-files'].map((entry) => `@countersign/governance-kernel/${entry}`),
  importer: 'packages/cli/',
};

const register = 'infra/services';
const services = serviceNames.map((name) => `services/${name}`);

/**
 * The units of this repository that each unit may import. An unlisted unit may import nothing, so list new units here.
 */
const mayImport: Record<string, string[]> = {
  [contracts]: [],
  [crypto]: [],
  [policy]: [contracts, crypto],
  [receipts]: [contracts, crypto],
  [verifier]: [contracts, crypto, policy, receipts],
  // The browser console uses only public routes, and verifies their answers itself.
  [webConsole]: [contracts, crypto, policy, verifier],
  [messaging]: [contracts],
  [delivery]: [contracts, messaging],
  [audit]: [contracts, crypto, verifier],
  [idempotency]: [messaging, serviceKit],
  [whatIf]: [contracts, crypto, policy, verifier],
  [judge]: [contracts, crypto, policy, verifier, whatIf],
  [report]: [crypto, verifier],
  // `countersign serve` runs the kernel's decision cycle. `countersign witness` stores its state in the same crash-safe
  // way as the registry file, and limits requests like a service.
  'packages/cli': [contracts, crypto, policy, verifier, report, whatIf, serviceKit, localBoundary.unit],
  [serviceKit]: [contracts, crypto],
  [database]: [],
  [testkit]: [contracts, crypto, database, messaging, serviceKit],
  ...Object.fromEntries(services.map((service) => [service, ofServices])),
  [register]: [],
  'infra/deploy': [database, serviceKit, register],
  'infra/local': [...ofServices, testkit, register, ...services],
};

/**
 * Units with a closed list of external dependencies, because they run in the browser or because proofs rely on them.
 */
const outsideAllowed: Record<string, string[]> = {
  [contracts]: ['zod'],
  [crypto]: ['@noble/curves', 'json-canonicalize', 'sodium-native', 'tweetnacl'],
  [receipts]: [],
};

/** Each unit imports only the units that architecture.md §2 allows. */
export function onlyGivenUnits({ edges }: ImportGraph): string[] {
  return edges
    .filter(({ from, to }) => to !== null && unitOf(to) !== unitOf(from))
    .filter(({ from, to }) => !(mayImport[unitOf(from)] ?? []).includes(unitOf(to ?? '')))
    .map(({ from, specifier }) => `${from}: ${unitOf(from)} may not import ${specifier}`);
}

export function onlyGivenLibraries({ edges }: ImportGraph): string[] {
  return edges
    .filter(
      ({ from, to, specifier }) => to === null && !specifier.startsWith('node:') && unitOf(from) in outsideAllowed,
    )
    .filter(({ from, specifier }) => !(outsideAllowed[unitOf(from)] ?? []).includes(packageOf(specifier)))
    .map(({ from, specifier }) => `${from}: ${unitOf(from)} may not depend on ${specifier}`);
}

/**
 * Services communicate through contracts, HTTP and RabbitMQ. Only infra/local imports services. The command line
 * imports two entries of the kernel.
 */
export function noImportOfServices({ edges }: ImportGraph): string[] {
  return edges
    .filter(({ from, to }) => to?.startsWith('services/') === true && unitOf(to) !== unitOf(from))
    .filter(({ from }) => !from.startsWith('infra/local/'))
    .filter(({ from, specifier }) => !isLocalBoundary({ from, specifier }))
    .map(({ from, specifier }) => `${from}: imports the service ${specifier}`);
}

function isLocalBoundary({ from, specifier }: { from: string; specifier: string }): boolean {
  return from.startsWith(localBoundary.importer) && localBoundary.specifiers.includes(specifier);
}

/** A path like ../../crypto/src/x.ts bypasses a package's exports. */
export function noReachingAround({ edges }: ImportGraph): string[] {
  return edges
    .filter(({ from, to, specifier }) => specifier.startsWith('.') && to !== null && unitOf(to) !== unitOf(from))
    .map(({ from, specifier }) => `${from}: reaches into ${specifier} instead of importing its package`);
}

/** Imports at run time form no cycle. Types may refer to each other. */
export function noCycles({ edges }: ImportGraph): string[] {
  const targets = new Map<string, string[]>();
  for (const { from, to, typeOnly } of edges)
    if (to !== null && !typeOnly) targets.set(from, [...(targets.get(from) ?? []), to]);
  const finished = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, trail: string[]): void => {
    if (trail.includes(path)) cycles.push([...trail.slice(trail.indexOf(path)), path].join(' → '));
    if (trail.includes(path) || finished.has(path)) return;
    for (const target of targets.get(path) ?? []) visit(target, [...trail, path]);
    finished.add(path);
  };
  for (const path of targets.keys()) visit(path, []);
  return cycles;
}
