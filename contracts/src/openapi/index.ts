import * as commercialGateway from '../commercial-gateway/index.ts';
import * as controlPlane from '../control-plane/index.ts';
import * as gateway from '../gateway/index.ts';
import * as kernel from '../governance-kernel/index.ts';
import * as shared from '../index.ts';
import { commercialRoutes, controlPlaneRoutes, forwarding, gatewayRoutes, kernelRoutes } from '../routes/index.ts';
import type { AnyRoute } from '../route.ts';
import { createComponents } from './components.ts';
import { openApiDocument } from './document.ts';
import { errorCodesPage, reasonCodesPage, routesPage } from './reference.ts';

const version = '0.1.0';

/** Routes that the gateway serves itself and routes that it forwards. */
const gatewayServes = [...Object.values<AnyRoute>(gatewayRoutes), ...forwarding.map(({ route }) => route)];

type Described = Omit<Parameters<typeof openApiDocument>[0], 'version'>;

/** One row for each service. A test compares the rows with the register in `infra/services`. */
const described = {
  gateway: {
    title: 'Countersign gateway',
    description: 'The public API: identity, workspaces, tasks, audit, and the forwarded routes of the other services.',
    serverUrl: 'http://127.0.0.1:3100',
    routes: gatewayServes,
    modules: [shared, gateway, kernel, controlPlane, commercialGateway],
  },
  'governance-kernel': {
    title: 'Countersign governance kernel',
    description: 'Decides each governed call, seals the decision in a signed receipt, and serves proofs of receipts.',
    serverUrl: 'http://127.0.0.1:8080',
    routes: Object.values(kernelRoutes),
    modules: [shared, kernel],
  },
  'control-plane': {
    title: 'Countersign control plane',
    description: 'The web console and the sign-in of people. Clients call it through the gateway.',
    serverUrl: 'http://127.0.0.1:3200',
    routes: Object.values(controlPlaneRoutes),
    modules: [shared, controlPlane],
  },
  'commercial-gateway': {
    title: 'Countersign commercial gateway',
    description:
      'Plans, trials, metering, billing, entitlements and provisioning. Clients call it through the gateway.',
    serverUrl: 'http://127.0.0.1:3300',
    routes: Object.values(commercialRoutes),
    modules: [shared, commercialGateway],
  },
} satisfies Record<string, Described>;

export type ServiceName = keyof typeof described;

const describedServices = Object.entries(described) as [ServiceName, Described][]; // `described` has only service names
const forwarded = new Set<AnyRoute>(forwarding.map(({ route }) => route));

/** All routes, by the service that owns them. */
export const routesByService: { name: ServiceName; routes: AnyRoute[] }[] = describedServices.map(
  ([name, { routes }]) => ({
    name,
    routes: name === 'gateway' ? routes.filter((route) => !forwarded.has(route)) : routes,
  }),
);

/** The OpenAPI document of a service. `make gen` writes the same text that the service serves. */
export function openApiText(service: ServiceName): string {
  return print(openApiDocument({ ...described[service], version }));
}

/**
 * The text of each generated file that is committed, by its path from the repository root. `make gen` writes the files,
 * and a test compares them. OpenAPI documents are long, so only their hashes are committed.
 * @param sha256 in hex
 */
export function committedFiles(sha256: (text: string) => string): Record<string, string> {
  const hashes = routesByService.map(({ name }) => [name, sha256(openApiText(name))]);
  return {
    'contracts/openapi/hashes.json': print(Object.fromEntries(hashes)),
    ...schemaFiles(),
    'docs/reference/reason-codes.md': reasonCodesPage(),
    'docs/reference/error-codes.md': errorCodesPage(),
    'docs/reference/routes.md': routesPage(describedServices.map(([name, { routes }]) => ({ name, routes }))),
  };
}

/** Schemas of files that people write. Members with a default are optional in them. */
const written = new Set(['policy-bundle', 'conformance-vector']);

/** The JSON Schemas of documents that other programs read. */
function schemaFiles(): Record<string, string> {
  const documents = {
    receipt: { type: kernel.SignedReceipt, title: 'A signed receipt (countersign.receipt.v1)' },
    'boundary-record': { type: kernel.BoundaryRecord, title: 'A boundary record (countersign.record.v1)' },
    'policy-bundle': { type: kernel.PolicyBundle, title: 'A policy bundle (countersign/policy.v1)' },
    'conformance-vector': { type: kernel.ConformanceVector, title: 'A conformance vector' },
    'conformance-report': {
      type: kernel.SignedConformanceReport,
      title: 'A signed conformance report (countersign.conformance-report.v1)',
    },
  };
  return Object.fromEntries(
    Object.entries(documents).map(([name, { type, title }]) => {
      const components = createComponents([shared, kernel], '#/$defs/');
      const root = components.schemaOf(type, written.has(name) ? 'input' : 'output');
      const head = {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        $id: `urn:countersign:schema:${name}:v1`,
      };
      return [`contracts/schemas/${name}.schema.json`, print({ ...head, title, ...root, $defs: components.named() })];
    }),
  );
}

function print(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
