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

const register = 'infra/services';
const services = serviceNames.map((name) => `services/${name}`);

/** Which of our own units each unit may import. A unit that is not listed may import nothing: list it when it is born. */
const mayImport: Record<string, string[]> = {
  [contracts]: [],
  [crypto]: [],
  [policy]: [contracts, crypto],
  [receipts]: [contracts, crypto],
  [verifier]: [contracts, crypto, policy, receipts],
  // Imports of a browser: it knows the public routes, and verifies their answers itself.
  [webConsole]: [contracts, crypto, policy, verifier],
  [messaging]: [contracts],
  [delivery]: [contracts, messaging],
  [audit]: [contracts, crypto, verifier],
  [idempotency]: [messaging, serviceKit],
  [whatIf]: [contracts, crypto, policy, verifier],
  [judge]: [contracts, crypto, policy, verifier, whatIf],
  [report]: [crypto, verifier],
  'packages/cli': [contracts, crypto, policy, verifier, report, whatIf],
  [serviceKit]: [contracts, crypto],
  [database]: [],
  [testkit]: [contracts, crypto, database, messaging, serviceKit],
  ...Object.fromEntries(services.map((service) => [service, ofServices])),
  [register]: [],
  'infra/deploy': [database, serviceKit, register],
  'infra/local': [...ofServices, testkit, register, ...services],
};

/** Units whose dependencies from outside are closed, because others run them in the browser or trust them with proof. */
const outsideAllowed: Record<string, string[]> = {
  [contracts]: ['zod'],
  [crypto]: ['@noble/curves', 'json-canonicalize', 'sodium-native', 'tweetnacl'],
  [receipts]: [],
};

/** Each unit imports only the units that architecture.md §2 gives it. */
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

/** Services meet in contracts, over HTTP and over RabbitMQ; a package never knows a service. */
export function noImportOfServices({ edges }: ImportGraph): string[] {
  return edges
    .filter(({ from, to }) => to?.startsWith('services/') === true && unitOf(to) !== unitOf(from))
    .filter(({ from }) => !from.startsWith('infra/local/'))
    .map(({ from, specifier }) => `${from}: imports the service ${specifier}`);
}

/** A path like ../../crypto/src/x.ts reaches around a package's exports. */
export function noReachingAround({ edges }: ImportGraph): string[] {
  return edges
    .filter(({ from, to, specifier }) => specifier.startsWith('.') && to !== null && unitOf(to) !== unitOf(from))
    .map(({ from, specifier }) => `${from}: reaches into ${specifier} instead of importing its package`);
}

/** No cycle of imports that run; types may refer to each other. */
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
